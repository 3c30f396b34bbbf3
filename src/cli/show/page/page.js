'use strict';
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const first = data.runs[0], second = data.runs[1] || null;
  const shown = second || first;  // the newer run is what is looked at; the older one is what it is compared with
  const directions = ['fwd', 'bwd_data', 'bwd_weight'];
  const kMost = 25;               // rows of a list before the rest is folded
  const at = id => document.getElementById(id);
  const narrow = () => document.documentElement.clientWidth < 600;

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
  // Three figures, zeros included, so that the numbers of a column compare at a glance.
  const ratio = value => value === null || value === undefined || !isFinite(value) || value >= 999.5 ? number(value) : value.toPrecision(3);
  const geomean = list => list.length ? Math.exp(list.reduce((sum, v) => sum + Math.log(v), 0) / list.length) : null;
  const sum = list => list.reduce((total, v) => total + v, 0);
  const label = row => `${row.suite ? row.suite + ' / ' : ''}${row.name}`;
  const good = row => !row.error && row.us > 0;
  const speedup = row => good(row) && row.cudnn_us > 0 ? row.cudnn_us / row.us : null;
  const share = row => good(row) && row.share > 0 ? row.share : null;
  const tflops = row => row.work / row.us * 1e-6;
  const spread = row => good(row) && row.low_us > 0 ? row.high_us / row.low_us : null;
  const short = name => name.replace(/^wt_(fwd|bwd_data|bwd_weight)_[^_]+(_[^_]+)*?_(sm\d+a?|gfx\w+?)_/, '');
  const key = row => [row.suite, row.name, row.direction, row.problem].join('|');
  const anchor = row => 'row-' + label(row).replace(/[^A-Za-z0-9.]+/g, '-') + '-' + row.direction;

  // The filter of the whole page, kept in the address behind '#?'.
  const fields = ['filter', 'suite', 'model', 'direction', 'only'];
  function readAddress() {
    const words = location.hash.startsWith('#?') ? new URLSearchParams(location.hash.slice(2)) : new URLSearchParams();
    for (const field of fields) at(field).value = words.get(field) || '';
  }
  function writeAddress() {
    const words = new URLSearchParams();
    for (const field of fields) if (at(field).value) words.set(field, at(field).value);
    history.replaceState(null, '', words.toString() ? '#?' + words : location.pathname + location.search);
  }
  function wanted(row) {
    const text = at('filter').value.toLowerCase();
    if (text && !`${label(row)} ${row.model} ${row.problem} ${row.kernel}`.toLowerCase().includes(text)) return false;
    for (const field of ['suite', 'model', 'direction']) if (at(field).value && row[field] !== at(field).value) return false;
    switch (at('only').value) {
      case 'losses': return speedup(row) !== null && speedup(row) < 1;
      case 'failed': return !good(row);
      case 'unsteady': return spread(row) > 2;
      default: return true;
    }
  }
  function fillBar() {
    const options = (id, all, list) => at(id).append(make('option', {value: ''}, all), ...list.map(v => make('option', {value: v}, v)));
    for (const field of ['suite', 'model']) {
      const names = [...new Set(shown.rows.map(row => row[field]).filter(Boolean))].sort();
      options(field, `all ${field}s`, names);
      at(field).hidden = !names.length;
    }
    options('direction', 'all directions', directions.filter(d => shown.rows.some(row => row.direction === d)));
    readAddress();
    at('bar').addEventListener('submit', event => event.preventDefault());
    at('bar').addEventListener('input', () => { writeAddress(); draw(); });
    window.addEventListener('hashchange', () => { if (location.hash.startsWith('#?')) { readAddress(); draw(); } });
  }

  function facts() {
    at('facts').append(...data.runs.map((run, index) => make('div', {}, make('b', {},
      `${second ? (index === 0 ? 'Before' : 'After') : 'Run'}: `),
      [run.file, run.date, run.device, run.program, run.command].filter(Boolean).join(' · '))));
  }

  function tiles(rows) {
    const add = (value, text, kind) => at('tiles').append(
      make('div', {class: 'tile'}, make('b', kind ? {class: kind} : {}, value), make('span', {}, text)));
    const failed = rows.filter(row => !good(row)), compared = rows.filter(row => speedup(row));
    add(`${rows.length - failed.length} of ${rows.length}`, rows.some(row => row.predicted) ? 'rows predicted, not run' : 'rows verified and timed', failed.length ? 'bad' : 'good');
    if (compared.length) {
      const losses = compared.filter(row => speedup(row) < 1).length, mean = geomean(compared.map(speedup));
      add(ratio(mean) + '×', `geometric mean of ${compared.length} speed-ups`, mean < 1 ? 'bad' : 'good');
      const timed = sum(compared.map(row => row.cudnn_us)) / sum(compared.map(row => row.us));
      add(ratio(timed) + '×', 'speed-up by time', timed < 1 ? 'bad' : 'good');
      add(`${losses} of ${compared.length}`, 'rows slower than cuDNN', losses ? 'bad' : 'good');
    }
    const shares = rows.map(share).filter(v => v !== null);
    if (shares.length) add(ratio(geomean(shares)), `of the limit, geometric mean of ${shares.length}`);
    const unsteady = rows.filter(row => spread(row) > 2).length;
    if (unsteady) add(String(unsteady), 'rows whose times lie more than twice apart', 'bad');
  }

  // A shape for each direction beside its colour.
  function mark(direction, x, y, r) {
    if (direction === 'bwd_data') return make('path', {d: `M${x - r},${y + r * 0.8} L${x + r},${y + r * 0.8} L${x},${y - r} Z`, class: direction});
    if (direction === 'bwd_weight') return make('rect', {x: x - r * 0.85, y: y - r * 0.85, width: 1.7 * r, height: 1.7 * r, class: direction + ' mark'});
    return make('circle', {cx: x, cy: y, r, class: direction});
  }
  function legend(rows) {
    return make('div', {class: 'legend'}, ...directions.filter(d => rows.some(row => row.direction === d)).map(d =>
      make('span', {}, make('svg', {viewBox: '0 0 12 12', 'aria-hidden': 'true'}, mark(d, 6, 6, 5)), d)));
  }
  const title = row => make('title', {}, `${label(row)} ${row.direction}\n${row.problem}\n${number(row.us)} us` +
    `${row.cudnn_us > 0 ? `, cuDNN ${number(row.cudnn_us)} us` : ''}, ${number(tflops(row))} TFLOP/s\n${row.kernel}`);

  // Horizontal bars on a logarithmic axis around 1, as long as these rows need it, with the spread as a line.
  function barChart(list) {
    const small = narrow(), height = small ? 22 : 18, width = small ? 380 : 1140, left = small ? 146 : 330, right = 56, top = 24;
    const values = list.flatMap(row => [speedup(row), row.cudnn_us / row.high_us, row.cudnn_us / row.low_us]).concat([0.97, 1.03])
      .filter(value => value > 0 && isFinite(value));
    const pad = small ? 50 : 64;  // of a number left of the longest loss
    const low = Math.log10(Math.min(...values)), high = Math.log10(Math.max(...values));
    const x = value => left + pad + Math.max(-pad, (Math.log10(value) - low) / (high - low) * (width - left - pad - right));
    const total = top + list.length * height + 6;
    const svg = make('svg', {viewBox: `0 0 ${width} ${total}`, role: 'img', 'aria-label': `Speed-up of ${list.length} rows`});
    const ticks = [];
    for (const tick of [1, 10, 0.1, 100, 2, 0.5, 5, 0.2, 20, 50, 0.9, 1.1, 0.95, 1.05, 0.8, 1.2, 0.7, 1.5, 3]) {
      const exponent = Math.log10(tick);
      if (exponent >= low && exponent <= high && ticks.every(other => Math.abs(x(other) - x(tick)) >= 52)) ticks.push(tick);
    }
    for (const tick of ticks) {
      svg.append(make('line', {x1: x(tick), x2: x(tick), y1: top - 6, y2: total, class: tick === 1 ? 'one' : 'grid'}),
        make('text', {x: x(tick), y: top - 10, 'text-anchor': 'middle', class: 'soft'}, `${number(tick)}×`));
    }
    list.forEach((row, index) => {
      const y = top + index * height, value = speedup(row), from = Math.min(x(1), x(value));
      const size = Math.max(1, Math.abs(x(value) - x(1)));
      const slowest = x(row.cudnn_us / row.high_us), fastest = x(row.cudnn_us / row.low_us);
      const text = small ? row.name : `${label(row)} ${row.direction}`, room = small ? 17 : 46;
      svg.append(make('text', {x: left - 8, y: y + 13, 'text-anchor': 'end'}, text.length > room ? '…' + text.slice(1 - room) : text),
        ...(small ? [mark(row.direction, 7, y + 9, 4)] : []),
        make('rect', {x: from, y: y + 3, width: size, height: height - 6, rx: 2, class: row.direction + ' bar'}, title(row)),
        make('line', {x1: slowest, x2: fastest, y1: y + height / 2, y2: y + height / 2, class: 'spread'}),
        make('text', {x: value < 1 ? Math.min(from, slowest) - 4 : Math.max(from + size, fastest) + 4, y: y + 13, 'text-anchor': value < 1 ? 'end' : 'start', class: 'soft'}, `${ratio(value)}×`));
    });
    return svg;
  }
  function bars(rows) {
    const compared = rows.filter(row => speedup(row)).sort((a, b) => speedup(a) - speedup(b));
    at('bars-note').textContent = compared.length
      ? `cuDNN's best time over Wavetile's: left of the line Wavetile is slower. The thin line is the spread of our time. ${compared.length} rows.`
      : 'No cuDNN times here; "wavetile bench SUITE --compare cudnn" and bench/compare.py measure them.';
    if (!compared.length) return;
    at('bars').append(legend(compared));
    if (compared.length <= 2 * kMost + 5) { at('bars').append(barChart(compared)); return; }
    const middle = compared.slice(kMost, -kMost);
    at('bars').append(make('p', {class: 'note'}, `The worst ${kMost}`), barChart(compared.slice(0, kMost)),
      make('details', {}, make('summary', {}, `${middle.length} rows between`), barChart(middle)),
      make('p', {class: 'note'}, `The best ${kMost}`), barChart(compared.slice(-kMost)));
  }

  // Axes with a logarithmic or plain scale; what is drawn on them is appended to the svg.
  function plot(width, height, xs, ys, xTitle, yTitle, name) {
    const left = 52, bottom = 42, top = 12, right = 14;
    const decades = list => [Math.floor(Math.log10(Math.min(...list))), Math.ceil(Math.log10(Math.max(...list)) + 1e-9)];
    const [x0, x1] = decades(xs), log = ys !== null, [y0, y1] = log ? decades(ys) : [0, 1.1];
    const x = v => left + (Math.log10(v) - x0) / Math.max(1, x1 - x0) * (width - left - right);
    const y = v => height - bottom - ((log ? Math.log10(v) : v) - y0) / Math.max(log ? 1 : 0.1, y1 - y0) * (height - bottom - top);
    const svg = make('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': name});
    for (let tick = x0; tick <= x1; ++tick) svg.append(
      make('line', {x1: x(10 ** tick), x2: x(10 ** tick), y1: top, y2: height - bottom, class: 'grid'}),
      make('text', {x: x(10 ** tick), y: height - bottom + 18, 'text-anchor': tick === x1 ? 'end' : 'middle', class: 'soft'}, number(10 ** tick)));
    const yTicks = log ? Array.from({length: y1 - y0 + 1}, (_, i) => 10 ** (y0 + i)) : [0, 0.2, 0.4, 0.6, 0.8, 1];
    for (const tick of yTicks) svg.append(make('line', {x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: tick === 1 && !log ? 'one' : 'grid'}),
      make('text', {x: left - 6, y: y(tick) + 4, 'text-anchor': 'end', class: 'soft'}, number(tick)));
    svg.append(make('text', {x: (left + width) / 2, y: height - 6, 'text-anchor': 'middle'}, xTitle),
      make('text', {x: 12, y: height / 2, transform: `rotate(-90 12 ${height / 2})`, 'text-anchor': 'middle'}, yTitle));
    return {svg, x, y, x0, x1, floor: height - bottom};
  }
  function shares(rows) {
    const known = rows.filter(row => share(row));
    at('share-note').textContent = known.length ? 'The least possible time over ours: the larger of moving the bytes once and of the ' +
      'products without padding, at the best rates of this very run. 1 cannot be beaten.' : 'No rates were measured in this run.';
    if (!known.length) return;
    const width = narrow() ? 370 : 560, height = 300, bins = new Array(11).fill(0);
    for (const row of known) bins[Math.min(10, Math.floor(share(row) * 10))] += 1;
    const most = Math.max(...bins), step = (width - 50) / 11;
    const histogram = make('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Histogram of the share of the limit'});
    bins.forEach((count, i) => {
      const tall = count / most * (height - 70);
      histogram.append(make('rect', {x: 40 + i * step, y: height - 42 - tall, width: step - 3, height: tall, class: 'fwd bin'}, make('title', {}, `${count} rows`)),
        make('text', {x: 40 + (i + 0.5) * step, y: height - 46 - tall, 'text-anchor': 'middle', class: 'soft'}, count ? String(count) : ''),
        make('text', {x: 40 + i * step, y: height - 26, 'text-anchor': 'middle', class: 'soft'}, (i / 10).toFixed(1)));
    });
    histogram.append(make('text', {x: width / 2, y: height - 6, 'text-anchor': 'middle'}, 'share of the limit'));
    const scatter = plot(width, height, known.map(row => row.us), null, 'microseconds', 'share', 'Share of the limit over time');
    for (const row of known) { const dot = mark(row.direction, scatter.x(row.us), scatter.y(share(row)), 4); dot.append(title(row)); scatter.svg.append(dot); }
    at('share').append(histogram, make('div', {}, legend(known), scatter.svg));
  }
  function roofline(rows) {
    const points = rows.filter(row => good(row) && row.work > 0 && row.bytes > 0), roofs = shown.ceilings || first.ceilings;
    const types = roofs ? Object.entries(roofs.teraflops).filter(([type]) => points.some(row => row.type === type)) : [];
    at('roofline-note').textContent = points.length === 0 ? 'No row was timed.'
      : 'Rate, without padding, over the operations that each byte of the tensors allows. ' + (types.length
        ? `Roof: ${number(roofs.gigabytes)} GB/s and ` + types.map(([type, rate]) => `${number(rate)} TFLOP/s of ${type}`).join(', ') +
          ', the best of any product and copy in this run.' : 'The file holds no rates, so no roof is drawn.');
    if (!points.length) return;
    const p = plot(narrow() ? 370 : 1140, narrow() ? 340 : 520, points.map(row => row.work / row.bytes),
      points.map(tflops).concat(types.map(([, rate]) => rate)), 'operations per byte', 'TFLOP/s', 'Roofline plot');
    for (const [, rate] of types) {
      const ridge = rate / roofs.gigabytes * 1e3, low = 10 ** p.x0, high = 10 ** p.x1;
      const corners = [low, Math.min(Math.max(ridge, low), high), high].map(v =>
        `${p.x(v)},${Math.min(p.y(Math.min(rate, v * roofs.gigabytes * 1e-3)), p.floor)}`);
      p.svg.append(make('path', {d: 'M' + corners.join(' L'), class: 'roof'}));
    }
    for (const row of points) { const dot = mark(row.direction, p.x(row.work / row.bytes), p.y(tflops(row)), 4.5); dot.append(title(row)); p.svg.append(dot); }
    at('roofline').append(legend(points), p.svg);
  }

  // columns: [title, value of a row, shown as text, kind]; null values sort last. Titles are buttons, for the keyboard too.
  function table(place, rows, columns, sortAt, ascending, rowId) {
    let sorted = sortAt, up = ascending;
    const body = make('tbody', {}), heads = [];
    function fill() {
      const order = [...rows].sort((a, b) => {
        const p = columns[sorted][1](a), q = columns[sorted][1](b);
        if (p === null || q === null) return (p === null) - (q === null);
        return (p < q ? -1 : p > q ? 1 : 0) * (up ? 1 : -1);
      });
      heads.forEach((head, i) => i === sorted ? head.setAttribute('aria-sort', up ? 'ascending' : 'descending') : head.removeAttribute('aria-sort'));
      body.replaceChildren(...order.map(row => make('tr', rowId ? {id: rowId(row)} : {}, ...columns.map(([, value, text, kind]) => {
        const cell = make('td', kind ? {class: kind} : {});
        cell.append((text || (v => v === null ? '-' : String(v)))(value(row), row));
        return cell;
      }))));
    }
    columns.forEach(([name, , , kind], index) => {
      const button = make('button', {type: 'button'}, name);
      button.addEventListener('click', () => { up = sorted === index ? !up : true; sorted = index; fill(); });
      heads.push(make('th', kind === 'num' ? {class: 'num', scope: 'col'} : {scope: 'col'}, button));
    });
    place.append(make('table', {}, make('thead', {}, make('tr', {}, ...heads)), body));
    fill();
  }
  const kernelCell = name => make('span', {title: name}, short(name) || '-');
  function totals(rows) {
    const groups = new Map();
    const add = (suite, direction, row) => {
      const id = suite + '|' + direction;
      if (!groups.has(id)) groups.set(id, {suite, direction, rows: []});
      groups.get(id).rows.push(row);
    };
    for (const row of rows) {
      add(row.suite || 'all', row.direction, row);
      add(row.suite || 'all', 'all', row);
      if (row.suite) { add('all suites', row.direction, row); add('all suites', 'all', row); }
    }
    const order = [...directions, 'all'], place = group => order.indexOf(group.direction);
    table(at('totals'), [...groups.values()].sort((a, b) => place(a) - place(b)), [['suite', g => g.suite], ['direction', g => g.direction], ...totalColumns], 0, true);
  }
  // Of a group of rows: its geometric mean, and its speed-up weighed by time.
  const of = (group, value) => group.rows.map(value).filter(v => v !== null);
  const byTime = rows => { const list = rows.filter(row => speedup(row)); return list.length ? sum(list.map(r => r.cudnn_us)) / sum(list.map(r => r.us)) : null; };
  const totalColumns = [
    ['rows', g => g.rows.length, null, 'num'], ['time, us', g => sum(g.rows.filter(good).map(r => r.us)), v => number(v), 'num'],
    ['speed-up', g => geomean(of(g, speedup)), ratio, 'num'], ['by time', g => byTime(g.rows), ratio, 'num'],
    ['slower', g => of(g, speedup).filter(v => v < 1).length, null, 'num'], ['share', g => geomean(of(g, share)), ratio, 'num'],
    ['failed', g => g.rows.filter(row => !good(row)).length, null, 'num']];
  // The network with the most time first.
  function models(rows) {
    const groups = new Map();
    for (const row of rows.filter(r => r.model)) groups.set(row.model, [...(groups.get(row.model) || []), row]);
    const used = directions.filter(d => rows.some(row => row.direction === d));
    if (groups.size) table(at('models'), [...groups].map(([model, members]) => ({model, rows: members})), [['model', g => g.model], ...totalColumns,
      ...used.map(d => [d + ' by time', g => byTime(g.rows.filter(row => row.direction === d)), ratio, 'num'])], 2, false);
  }
  function kernels(rows) {
    const groups = new Map();
    for (const row of rows) {
      if (!row.kernel) continue;
      if (!groups.has(row.kernel)) groups.set(row.kernel, []);
      groups.get(row.kernel).push(row);
    }
    const list = [...groups].map(([kernel, members]) => ({kernel, rows: members, timed: members.filter(good)}));
    table(at('kernels'), list, [
      ['kernel', g => g.kernel, kernelCell, 'name'], ['rows', g => g.rows.length, null, 'num'],
      ['time of all, us', g => sum(g.timed.map(r => r.us)), v => number(v), 'num'],
      ['best TFLOP/s', g => Math.max(0, ...g.timed.map(tflops)), v => number(v), 'num'],
      ['speed-up', g => geomean(g.timed.map(speedup).filter(v => v !== null)), ratio, 'num'],
      ['share', g => geomean(g.timed.map(share).filter(v => v !== null)), ratio, 'num']], 1, false);
  }
  const rowColumns = [
    ['row', label, (v, row) => make('a', {href: '#' + anchor(row)}, v)], ['model', row => row.model || null], ['direction', row => row.direction],
    ['problem', row => row.problem, null, 'name'], ['us', row => good(row) ? row.us : null, v => number(v, 4), 'num'],
    ['spread', spread, v => v === null ? '-' : v.toFixed(2) + '×', 'num'],
    ['cuDNN us', row => row.cudnn_us || null, v => number(v, 4), 'num'], ['speed-up', speedup, ratio, 'num'],
    ['TFLOP/s', row => good(row) ? tflops(row) : null, v => number(v), 'num'],
    ['limit us', row => row.limit_us || null, v => number(v), 'num'], ['share', share, ratio, 'num'],
    ['kernel', row => row.kernel || row.error, (v, row) => row.error ? make('span', {class: 'bad'}, 'failed: ' + row.error) : kernelCell(v), 'name'],
    // Of `wavetile doctor` alone.
    ...(shown.rows.some(row => row.advice !== undefined) ? [['calls', row => row.calls || null, null, 'num'],
      ['what to change', row => row.advice || null, null, 'name'],
      ['to gain, us', row => row.gain_us || null, v => number(v), 'num']] : [])];
  function csv(rows) {
    const cell = v => v === null || v === undefined ? '' : typeof v === 'number' ? String(v) : '"' + String(v).replaceAll('"', '""') + '"';
    const lines = [rowColumns.map(c => cell(c[0])).join(','), ...rows.map(row => rowColumns.map(c => cell(c[1](row))).join(','))];
    at('csv').href = 'data:text/csv;charset=utf-8,' + encodeURIComponent(lines.join('\n') + '\n');
  }
  function compare(rows) {
    if (!second) return;
    at('compare-section').hidden = false;
    const before = new Map(first.rows.map(row => [key(row), row]));
    const both = rows.filter(row => good(row) && before.has(key(row)) && good(before.get(key(row))))
      .map(row => ({row, old: before.get(key(row)), change: row.us / before.get(key(row)).us}));
    const outside = b => b.row.low_us > b.old.high_us || b.row.high_us < b.old.low_us;
    const slower = both.filter(b => b.change > 1 && outside(b)).length, faster = both.filter(b => b.change < 1 && outside(b)).length;
    at('compare-note').textContent = `${both.length} rows are in both runs: ${faster} faster and ${slower} slower beyond their spreads; ` +
      `geometric mean of the times ${number(geomean(both.map(b => b.change)))}, by time ` +
      `${number(sum(both.map(b => b.row.us)) / sum(both.map(b => b.old.us)))}.`;
    const list = [...both].sort((a, b) => b.change - a.change), columns = [
      ['row', b => label(b.row)], ['direction', b => b.row.direction], ['before us', b => b.old.us, v => number(v, 4), 'num'],
      ['after us', b => b.row.us, v => number(v, 4), 'num'],
      ['after / before', b => b.change, (v, b) => make('span', outside(b) ? {class: v > 1 ? 'bad' : 'good'} : {}, number(v)), 'num'],
      ['kernel', b => b.row.kernel, (v, b) => v === b.old.kernel ? kernelCell(v) : make('span', {title: b.old.kernel + ' → ' + v}, short(b.old.kernel) + ' → ' + short(v)), 'name']];
    table(at('compare'), list.slice(0, kMost), columns, 4, false);
    if (list.length > kMost) {
      const rest = make('details', {}, make('summary', {}, `${list.length - kMost} more rows`));
      at('compare').append(rest);
      table(rest, list.slice(kMost), columns, 4, false);
    }
  }
  // One line per commit and suite, oldest first.
  function history_() {
    if (!data.history || !data.history.length) return;
    at('history-section').hidden = false;
    at('history-note').textContent = 'Geometric mean of the share of the limit by commit, oldest first, for each suite.';
    for (const suite of [...new Set(data.history.map(e => e.suite))]) {
      const list = data.history.filter(e => e.suite === suite && e.share > 0), width = narrow() ? 370 : 1140, height = 90;
      const x = i => 40 + i / Math.max(1, list.length - 1) * (width - 60), y = v => height - 16 - Math.min(1, v) * (height - 34);
      const svg = make('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `History of ${suite}`},
        make('text', {x: 4, y: 12}, suite), make('path', {class: 'trend', d: list.map((e, i) => `${i ? 'L' : 'M'}${x(i)},${y(e.share)}`).join(' ')}));
      list.forEach((e, i) => svg.append(make('circle', {cx: x(i), cy: y(e.share), r: 3, class: 'fwd'}, make('title', {}, `${e.commit} ${e.date}\nshare ${number(e.share)}, ${e.rows} rows, ${number(e.us)} us`))));
      at('history').append(svg);
    }
  }

  function draw() {
    const rows = shown.rows.filter(wanted);
    for (const id of ['tiles', 'totals', 'models', 'bars', 'share', 'roofline', 'kernels', 'rows', 'compare']) at(id).replaceChildren();
    at('count').textContent = `${rows.length} of ${shown.rows.length} rows`;
    compare(rows);
    tiles(rows);
    totals(rows);
    models(rows);
    bars(rows);
    shares(rows);
    roofline(rows);
    kernels(rows);
    const judged = rowColumns.findIndex(column => column[0] === 'to gain, us');
    table(at('rows'), rows, rowColumns, judged >= 0 ? judged : rows.some(row => speedup(row)) ? 7 : 10, judged < 0, anchor);
    csv(rows);
    // For the test in a browser: how wide the page is, how much of it lies beyond, and the least of its letters.
    const root = document.documentElement, texts = [...document.querySelectorAll('svg:not(.legend svg) text')];
    const scale = node => { const svg = node.ownerSVGElement; return svg.clientWidth / svg.viewBox.baseVal.width || 1; };
    Object.assign(document.body.dataset, {width: root.clientWidth, overflow: root.scrollWidth - root.clientWidth,
      letters: Math.min(99, ...texts.filter(t => t.ownerSVGElement.clientWidth > 0).map(t => 12 * scale(t))).toFixed(1), ready: 'yes'});
  }
  facts();
  fillBar();
  history_();
  draw();
  let wide = narrow();
  window.addEventListener('resize', () => { if (narrow() !== wide) { wide = narrow(); draw(); } });
})();
