'use strict';
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const first = data.runs[0], second = data.runs[1] || null;
  const shown = second || first;  // the newer run is what is looked at; the older one is what it is compared with
  const directions = ['fwd', 'bwd_data', 'bwd_weight'];
  const at = id => document.getElementById(id);

  function make(tag, attributes, ...children) {
    const svg = ['svg', 'g', 'rect', 'line', 'path', 'circle', 'text', 'title'].includes(tag);
    const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    for (const child of children) node.append(child);
    return node;
  }
  const number = (value, digits = 3) => {
    if (value === null || value === undefined || !isFinite(value)) return '-';
    if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
    return value >= 1000 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(digits)).toString();
  };
  const geomean = list => list.length ? Math.exp(list.reduce((sum, v) => sum + Math.log(v), 0) / list.length) : NaN;
  const label = row => `${row.suite ? row.suite + ' / ' : ''}${row.name}`;
  const good = row => !row.error && row.us > 0;
  const speedup = row => good(row) && row.cudnn_us > 0 ? row.cudnn_us / row.us : null;
  const tflops = row => row.flops / row.us * 1e-6;

  function facts() {
    const lines = data.runs.map((run, index) => {
      const title = second ? (index === 0 ? 'Before' : 'After') : 'Run';
      return make('div', {}, make('b', {}, `${title}: `),
        [run.file, run.date, run.device, run.program, run.command].filter(Boolean).join(' · '));
    });
    at('facts').append(...lines);
  }

  function tiles() {
    const add = (value, text, kind) => at('tiles').append(
      make('div', {class: 'tile'}, make('b', kind ? {class: kind} : {}, value), make('span', {}, text)));
    const rows = shown.rows, failed = rows.filter(row => !good(row));
    const compared = rows.filter(row => speedup(row));
    add(`${rows.length - failed.length} of ${rows.length}`, 'rows verified and timed', failed.length ? 'bad' : 'good');
    if (compared.length) {
      const losses = compared.filter(row => speedup(row) < 1).length;
      add(`${losses} of ${compared.length}`, 'rows slower than cuDNN', losses ? 'bad' : 'good');
      for (const direction of directions) {
        const list = compared.filter(row => row.direction === direction).map(speedup);
        if (!list.length) continue;
        const mean = geomean(list);
        add(number(mean), `geometric mean of ${list.length} speed-ups, ${direction}`, mean < 1 ? 'bad' : 'good');
      }
    }
  }

  function legend() {
    const used = directions.filter(direction => shown.rows.some(row => row.direction === direction));
    return make('div', {class: 'legend'}, ...used.map(direction => make('span', {},
      make('i', {style: `background: var(--${direction})`}), direction)));
  }

  // Horizontal bars on a logarithmic axis around 1; rows that failed stand above all.
  function bars() {
    const failed = shown.rows.filter(row => !good(row));
    const compared = shown.rows.filter(row => speedup(row)).sort((a, b) => speedup(a) - speedup(b));
    at('bars-note').textContent = compared.length
      ? `cuDNN's best time over Wavetile's: left of the line Wavetile is slower. ${compared.length} rows; ` +
        `${failed.length} failed${failed.length ? ' and stand first' : ''}.`
      : 'This run holds no cuDNN times; "wavetile bench SUITE --compare cudnn" and bench/compare.py measure them.';
    if (!compared.length && !failed.length) return;
    const height = 18, left = 330, right = 70, width = 1140, top = 24;
    const values = compared.map(speedup).concat([0.9, 1.1]);
    const low = Math.log10(Math.min(...values)) - 0.35, high = Math.log10(Math.max(...values));  // room for the first label
    const x = value => left + (Math.log10(value) - low) / (high - low) * (width - left - right);
    const total = top + (failed.length + compared.length) * height + 10;
    const svg = make('svg', {viewBox: `0 0 ${width} ${total}`, role: 'img', 'aria-label': 'Speed-up of every row'});
    for (let tick = Math.ceil(low); tick <= Math.floor(high); ++tick) {
      const place = x(Math.pow(10, tick));
      svg.append(make('line', {x1: place, x2: place, y1: top - 6, y2: total, class: tick === 0 ? 'one' : 'grid'}));
      svg.append(make('text', {x: place, y: top - 10, 'text-anchor': 'middle', class: 'soft'}, `${number(Math.pow(10, tick))}×`));
    }
    let y = top;
    const name = (row, kind) => make('text', {x: left - 8, y: y + 13, 'text-anchor': 'end', class: kind},
      `${label(row)} ${row.direction}`.slice(-46));
    for (const row of failed) {
      svg.append(name(row, ''), make('text', {x: left + 4, y: y + 13, style: 'fill: var(--bad)'},
        `failed: ${row.error || 'not timed'}`.slice(0, 110)));
      y += height;
    }
    for (const row of compared) {
      const value = speedup(row), from = Math.min(x(1), x(value)), size = Math.max(1, Math.abs(x(value) - x(1)));
      svg.append(name(row, ''));
      svg.append(make('rect', {x: from, y: y + 3, width: size, height: height - 6, rx: 2, class: row.direction},
        make('title', {}, `${row.problem}\n${number(row.us)} us, cuDNN ${number(row.cudnn_us)} us\n${row.kernel}`)));
      const outside = value < 1 ? from - 4 : from + size + 4;
      svg.append(make('text', {x: outside, y: y + 13, 'text-anchor': value < 1 ? 'end' : 'start', class: 'soft'}, `${number(value)}×`));
      y += height;
    }
    at('bars').append(legend(), svg);
  }

  function roofline() {
    const points = shown.rows.filter(row => good(row) && row.flops > 0 && row.bytes > 0);
    const roofs = shown.ceilings || first.ceilings;
    at('roofline-note').textContent = points.length === 0 ? 'No row was timed.'
      : 'Rate over the operations that each byte of the tensors allows. ' + (roofs
        ? `Roof: ${number(roofs.gigabytes)} GB/s and ${number(roofs.teraflops)} TFLOP/s, measured in the same run.`
        : 'The file holds no measured ceilings, so no roof is drawn.');
    if (!points.length) return;
    const width = 1140, height = 520, left = 62, bottom = 44, top = 14, right = 20;
    const xs = points.map(row => row.flops / row.bytes), ys = points.map(tflops);
    if (roofs) ys.push(roofs.teraflops);
    const range = list => [Math.floor(Math.log10(Math.min(...list))), Math.ceil(Math.log10(Math.max(...list)) + 1e-9)];
    const [x0, x1] = range(xs), [y0, y1] = range(ys);
    const x = value => left + (Math.log10(value) - x0) / Math.max(1, x1 - x0) * (width - left - right);
    const y = value => height - bottom - (Math.log10(value) - y0) / Math.max(1, y1 - y0) * (height - bottom - top);
    const svg = make('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Roofline plot'});
    for (let tick = x0; tick <= x1; ++tick) {
      const place = x(Math.pow(10, tick));
      svg.append(make('line', {x1: place, x2: place, y1: top, y2: height - bottom, class: 'grid'}),
        make('text', {x: place, y: height - bottom + 18, 'text-anchor': 'middle', class: 'soft'}, number(Math.pow(10, tick))));
    }
    for (let tick = y0; tick <= y1; ++tick) {
      const place = y(Math.pow(10, tick));
      svg.append(make('line', {x1: left, x2: width - right, y1: place, y2: place, class: 'grid'}),
        make('text', {x: left - 8, y: place + 4, 'text-anchor': 'end', class: 'soft'}, number(Math.pow(10, tick))));
    }
    svg.append(make('text', {x: (left + width) / 2, y: height - 6, 'text-anchor': 'middle'}, 'operations a byte'),
      make('text', {x: 14, y: height / 2, transform: `rotate(-90 14 ${height / 2})`, 'text-anchor': 'middle'}, 'TFLOP/s'));
    if (roofs) {
      const rate = intensity => Math.min(roofs.teraflops, intensity * roofs.gigabytes * 1e-3);
      const ridge = roofs.teraflops / roofs.gigabytes * 1e3, low = Math.pow(10, x0), high = Math.pow(10, x1);
      const corners = [low, Math.min(Math.max(ridge, low), high), high].map(v => `${x(v)},${Math.min(y(rate(v)), height - bottom)}`);
      svg.append(make('path', {d: 'M' + corners.join(' L'), class: 'roof'}));
    }
    for (const row of points) {
      svg.append(make('circle', {cx: x(row.flops / row.bytes), cy: y(tflops(row)), r: 4.5, class: row.direction, 'fill-opacity': 0.75},
        make('title', {}, `${label(row)} ${row.direction}\n${row.problem}\n${number(tflops(row))} TFLOP/s, ${number(row.us)} us`)));
    }
    at('roofline').append(legend(), svg);
  }

  // columns: [title, value of a row, shown as text, is a number]; null values sort last.
  function table(place, rows, columns, sortAt, ascending) {
    let sorted = sortAt, up = ascending;
    const body = make('tbody', {}), head = make('tr', {});
    function draw(list) {
      const order = [...list].sort((a, b) => {
        const p = columns[sorted][1](a), q = columns[sorted][1](b);
        if (p === null || q === null) return (p === null) - (q === null);
        return (p < q ? -1 : p > q ? 1 : 0) * (up ? 1 : -1);
      });
      body.replaceChildren(...order.map(row => make('tr', {}, ...columns.map(([, value, text, kind]) => {
        const cell = make('td', kind ? {class: kind} : {});
        cell.append((text || (v => v === null ? '-' : String(v)))(value(row), row));
        return cell;
      }))));
    }
    columns.forEach(([title, , , kind], index) => {
      const cell = make('th', kind === 'num' ? {class: 'num'} : {}, title);
      cell.addEventListener('click', () => { up = sorted === index ? !up : true; sorted = index; draw(current); });
      head.append(cell);
    });
    let current = rows;
    place.append(make('table', {}, make('thead', {}, head), body));
    draw(current);
    return list => { current = list; draw(list); };
  }

  function kernels() {
    const groups = new Map();
    for (const row of shown.rows) {
      if (!row.kernel) continue;
      if (!groups.has(row.kernel)) groups.set(row.kernel, {kernel: row.kernel, rows: 0, us: 0, speed: [], rate: 0});
      const group = groups.get(row.kernel);
      group.rows += 1;
      if (!good(row)) continue;
      group.us += row.us;
      group.rate = Math.max(group.rate, tflops(row));
      if (speedup(row)) group.speed.push(speedup(row));
    }
    table(at('kernels'), [...groups.values()], [
      ['kernel', g => g.kernel, null, 'name'],
      ['rows', g => g.rows, null, 'num'],
      ['time of all, us', g => g.us, v => number(v), 'num'],
      ['best TFLOP/s', g => g.rate, v => number(v), 'num'],
      ['speed-up, mean', g => g.speed.length ? geomean(g.speed) : null, v => number(v), 'num'],
      ['worst', g => g.speed.length ? Math.min(...g.speed) : null, v => number(v), 'num'],
    ], 4, true);
  }

  function allRows() {
    const coloured = v => v === null ? '-' : make('span', {class: v < 1 ? 'bad' : 'good'}, number(v));
    const update = table(at('rows'), shown.rows, [
      ['name', label], ['direction', row => row.direction],
      ['problem', row => row.problem, null, 'name'],
      ['us', row => row.us > 0 ? row.us : null, (v, row) => row.error ? make('span', {class: 'bad'}, 'failed') : number(v), 'num'],
      ['±', row => row.us > 0 ? (row.high_us - row.low_us) / 2 : null, v => number(v, 2), 'num'],
      ['cuDNN us', row => row.cudnn_us || null, v => number(v), 'num'],
      ['heur. us', row => row.heuristic_us || null, v => number(v), 'num'],
      ['speed-up', speedup, coloured, 'num'],
      ['TFLOP/s', row => good(row) ? tflops(row) : null, v => number(v), 'num'],
      ['kernel', row => row.kernel, null, 'name'],
    ], 7, true);
    const filter = () => {
      const words = at('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
      const list = shown.rows.filter(row => {
        const text = `${label(row)} ${row.direction} ${row.problem} ${row.kernel}`.toLowerCase();
        return words.every(word => text.includes(word));
      });
      at('count').textContent = `${list.length} of ${shown.rows.length} rows`;
      update(list);
    };
    at('filter').addEventListener('input', filter);
    filter();
  }

  function compare() {
    if (!second) return;
    at('compare-section').hidden = false;
    const key = row => `${row.suite}\n${row.name}\n${row.problem}`;
    const before = new Map(first.rows.map(row => [key(row), row]));
    const pairs = second.rows.filter(row => before.has(key(row))).map(row => ({after: row, before: before.get(key(row))}));
    const timed = pairs.filter(pair => good(pair.after) && good(pair.before));
    const ratio = pair => good(pair.after) && good(pair.before) ? pair.before.us / pair.after.us : null;
    const same = pair => pair.after.low_us <= pair.before.high_us && pair.before.low_us <= pair.after.high_us;
    const slower = timed.filter(pair => !same(pair) && ratio(pair) < 1).length;
    const faster = timed.filter(pair => !same(pair) && ratio(pair) > 1).length;
    at('compare-note').textContent = `${pairs.length} rows are in both runs: ${faster} faster, ${slower} slower, ` +
      `${timed.length - faster - slower} the same within their spreads; geometric mean ${number(geomean(timed.map(ratio)))}. ` +
      `${second.rows.length - pairs.length} rows are new, ${first.rows.length - pairs.length} are gone.`;
    const verdict = (v, pair) => v === null ? make('span', {class: 'bad'}, 'failed')
      : same(pair) ? number(v) : make('span', {class: v < 1 ? 'bad' : 'good'}, number(v));
    const holder = make('div', {class: 'scroll'});
    at('compare').append(holder);
    table(holder, pairs, [
      ['name', pair => label(pair.after)], ['direction', pair => pair.after.direction],
      ['before us', pair => pair.before.us > 0 ? pair.before.us : null, v => number(v), 'num'],
      ['after us', pair => pair.after.us > 0 ? pair.after.us : null, v => number(v), 'num'],
      ['speed-up', ratio, verdict, 'num'],
      ['verdict', pair => ratio(pair) === null ? 'failed' : same(pair) ? 'same' : ratio(pair) < 1 ? 'slower' : 'faster'],
      ['kernel', pair => pair.after.kernel === pair.before.kernel ? 'unchanged' : `${pair.before.kernel} → ${pair.after.kernel}`, null, 'name'],
    ], 4, true);
  }

  facts();
  tiles();
  bars();
  compare();
  roofline();
  kernels();
  allRows();
  document.body.dataset.ready = 'yes';
})();
