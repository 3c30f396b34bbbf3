// SPDX-License-Identifier: Apache-2.0
// tests/target/assembly_test.cc - the simulator runs no inline assembly, so each statement of src/target is held to a
// table written from the manual, and the check itself to what happens when a part of a statement is lost.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.h"
#include "tests/places.h"
#include "tests/target/mutations.h"
#include "tests/target/ptx_bulk_rows.h"

namespace wt::device_text {
namespace {

namespace fs = std::filesystem;

// The asm statements of a folder of src, by header.
std::map<std::string, std::vector<Statement>> statements_in(const char* folder) {
  std::map<std::string, std::vector<Statement>> files;
  const fs::path headers = fs::path(places::kSourceTree) / "src" / folder;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(headers)) {
    if (entry.path().extension() != ".h") continue;
    const Result<std::string> text = read_file(entry.path());
    EXPECT_TRUE(text.ok()) << text.status().message();
    if (!text.ok() || text->find("asm") == std::string::npos) continue;
    std::vector<Statement> statements = statements_of(*text);
    if (!statements.empty()) files[fs::relative(entry.path(), headers).generic_string()] = std::move(statements);
  }
  return files;
}

// What is wrong in one file: statements and rows that do not meet one to one, and those that differ.
std::vector<std::string> complaints(const std::vector<Statement>& statements, const std::vector<Row>& rows) {
  std::vector<std::string> said;
  for (const Statement& statement : statements) {
    const auto same = [&](const Row& row) { return row.wrapper == statement.wrapper; };
    const auto row = std::ranges::find_if(rows, same);
    const std::string where = std::to_string(statement.line) + ": " + statement.wrapper + ": ";
    if (row == rows.end()) {
      said.push_back(where + "no row of the table");
    } else if (const std::string wrong = complaint(statement, *row); !wrong.empty()) {
      said.push_back(where + wrong);
    }
  }
  for (const Row& row : rows) {
    const auto count = std::ranges::count(statements, row.wrapper, &Statement::wrapper);
    if (count != 1) said.push_back(row.wrapper + ": " + std::to_string(count) + " statements");
    if (std::ranges::count(rows, row.wrapper, &Row::wrapper) != 1) said.push_back(row.wrapper + ": several rows");
  }
  return said;
}

TEST(Assembly, EveryStatementIsWhatTheManualAsksFor) {
  std::map<std::string, std::vector<Statement>> files = statements_in("target/cuda");
  size_t checked = 0;
  for (const FileRows& rows : ptx_rows()) {
    for (const std::string& said : complaints(files[rows.file], rows.rows))
      ADD_FAILURE() << "src/target/cuda/" << rows.file << ":" << said;
    checked += files[rows.file].size();
    files.erase(rows.file);
  }
  for (const auto& [file, statements] : files)
    ADD_FAILURE() << "src/target/cuda/" << file << " has " << statements.size() << " asm statements and no rows";
  EXPECT_EQ(checked,
            85u + 32 * 14 +
                68);  // Blackwell: 68; wgmma: seven pairs of types, A in shared memory or in registers, N 8 to 256
}

// AMD's wrappers call builtins (builtins_test.cc), of which the compiler knows more, except for a copy and for keep();
// kernels call wrappers.
TEST(Assembly, StandsInTheWrappersOfNvidiaAndInAmdsCopy) {
  std::map<std::string, std::vector<Statement>> amd = statements_in("target/amd");
  ASSERT_EQ(amd["buffer.h"].size(), 2u);  // of gfx950, and of gfx90a and gfx942
  // M0 holds the place in shared memory; a move to it and its use are an instruction apart (CDNA4 ISA manual, "Manually
  // Inserted Wait States").
  Result<std::string> text = read_file(std::filesystem::path(places::kSourceTree) / "src/target/amd/buffer.h");
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, ::testing::HasSubstr(R"(asm volatile(
      "s_mov_b32 m0, %0\n\ts_nop 0\n\t"
      "buffer_load_dwordx4 %1, %2, 0 offen lds"
      :
      : "s"(uniform(static_cast<int>(to))), "v"(offset), "s"(view.resource)
      : "memory", "m0");)"));
  EXPECT_THAT(*text, ::testing::HasSubstr(R"(asm volatile(
        "s_mov_b32 m0, %0\n\ts_nop 0\n\t"
        "buffer_load_dword %1, %2, 0 offen lds"
        :
        : "s"(uniform(static_cast<int>(to) + part * 256)), "v"(word), "s"(view.resource)
        : "memory", "m0");)"));
  amd.erase("buffer.h");
  // keep() has no instruction, as on NVIDIA (ptx_rows.h): its register, a vector register here, is written where it
  // stands.
  for (const std::string& said : complaints(amd["memory.h"], {{"keep(SharedAddress value)", "<+v value>", kPlaced}}))
    ADD_FAILURE() << "src/target/amd/memory.h:" << said;
  amd.erase("memory.h");
  for (const auto& [file, statements] : amd)
    ADD_FAILURE() << "src/target/amd/" << file << ":" << statements.front().line << " has inline assembly";
  for (const char* folder : {"kernels", "conformance", "config", "problem"})
    for (const auto& [file, statements] : statements_in(folder))
      ADD_FAILURE() << "src/" << folder << "/" << file << ":" << statements.front().line << " has inline assembly";
}

TEST(Assembly, LostPartsAreNoticed) {
  std::map<std::string, std::vector<Statement>> files = statements_in("target/cuda");
  std::map<std::string, int> tried;
  for (const FileRows& rows : ptx_rows()) {
    for (const Statement& statement : files[rows.file]) {
      const auto row = std::ranges::find(rows.rows, statement.wrapper, &Row::wrapper);
      ASSERT_NE(row, rows.rows.end()) << statement.wrapper;
      for_each_mutation(statement, [&](const char* kind, const Statement& mutated) {
        ++tried[kind];
        if (complaint(mutated, *row).empty())
          ADD_FAILURE() << rows.file << ": " << statement.wrapper << ": " << kind
                        << " is not noticed: " << mutated.text;
      });
    }
  }
  int all = 0;
  for (const auto& [kind, count] : tried) {
    RecordProperty(kind, count);
    all += count;
    EXPECT_GT(count, 10) << kind;
  }
  EXPECT_EQ(tried.size(), kMutationKinds);
  RecordProperty("mutations", all);
  EXPECT_GT(all, 100'000);
}

TEST(Assembly, LostAndAddedStatementsAreNoticed) {
  std::map<std::string, std::vector<Statement>> files = statements_in("target/cuda");
  for (const FileRows& rows : ptx_rows()) {
    if (rows.file == "wgmma.h") continue;  // 453 statements against 453 rows each time: enough in the others
    const std::vector<Statement>& whole = files[rows.file];
    for (size_t i = 0; i < whole.size(); ++i) {
      std::vector<Statement> fewer = whole, more = whole;
      fewer.erase(fewer.begin() + static_cast<long>(i));
      more.push_back(whole[i]);
      EXPECT_EQ(complaints(fewer, rows.rows).size(), 1u) << rows.file << " without " << whole[i].wrapper;
      EXPECT_EQ(complaints(more, rows.rows).size(), 1u) << rows.file << " with a second " << whole[i].wrapper;
      std::vector<Row> unlisted = rows.rows;
      unlisted.erase(std::ranges::find(unlisted, whole[i].wrapper, &Row::wrapper));
      EXPECT_EQ(complaints(whole, unlisted).size(), 1u) << rows.file << " without a row for " << whole[i].wrapper;
    }
  }
}

// What is written in macros is read as the compiler would read it.
TEST(Assembly, MacrosAreExpanded) {
  const std::vector<Statement> statements = statements_of(
      "#define LIST(i) \"+f\"(d[i]), \"+f\"(d[i + 1])\n"
      "#define L8 LIST(2)\n"
      "#define RUN(n, name, ...) \\\n"
      "  asm volatile(\"op.n\" #n name \" %0, %\" #n \";\" : L##n : \"r\"(x)__VA_OPT__(, ) __VA_ARGS__ : \"memory\")\n"
      "struct S<8> {\n  static void f(int x = 3) { RUN(8, \".t\" \".u\", \"l\"(p[1])); }\n};\n"
      "#undef RUN\nvoid g() { if constexpr (kA) { asm(\"a;\"); } else { RUN(1); asm(\"b %%r;\" ::: \"cc\"); } }\n");
  ASSERT_EQ(statements.size(), 3u);
  EXPECT_EQ(statements[0].wrapper, "S<8>::f(int x)");
  EXPECT_EQ(statements[0].text, "op.n8.t.u %0, %8;");
  EXPECT_EQ(statements[0].outputs, (std::vector<Operand>{{"+f", "d[2]"}, {"+f", "d[3]"}}));
  EXPECT_EQ(statements[0].inputs, (std::vector<Operand>{{"r", "x"}, {"l", "p[1]"}}));
  EXPECT_EQ(statements[0].clobbers, std::vector<std::string>{"memory"});
  EXPECT_TRUE(statements[0].is_volatile);
  EXPECT_EQ(statements[0].line, 6);
  EXPECT_EQ(statements[1].wrapper, "g() if kA");
  EXPECT_EQ(statements[2].wrapper, "g() unless kA");
  EXPECT_EQ(resolved(statements[2]), "b %r;");
  EXPECT_FALSE(statements[2].is_volatile);
}

}  // namespace
}  // namespace wt::device_text
