// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wt {
namespace {

TEST(DynamicLibrary, OpensTheFirstThatExists) {
  const Result<DynamicLibrary> library = DynamicLibrary::open({"libwavetile_absent.so.7", "libm.so.6"});
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_EQ(library->path(), "libm.so.6");
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library->bind(cosine, "cos").ok());
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library->find("wavetile_no_such_function"), nullptr);
  const Status absent = library->bind(cosine, "wavetile_no_such_function");
  EXPECT_EQ(absent.code(), Code::kDevice);
  EXPECT_EQ(absent.message(), "libm.so.6 has no symbol wavetile_no_such_function");
}

TEST(DynamicLibrary, SaysWhatEachNameAnswered) {
  const Status status = DynamicLibrary::open({"libwavetile_a.so", "libwavetile_b.so"}).status();
  EXPECT_EQ(status.code(), Code::kDevice);
  EXPECT_THAT(status.message(), testing::AllOf(testing::HasSubstr("libwavetile_a.so"),
                                               testing::HasSubstr("libwavetile_b.so"), testing::HasSubstr("; ")));
}

TEST(DynamicLibrary, MovesKeepItOpen) {
  Result<DynamicLibrary> first = DynamicLibrary::open({"libm.so.6"});
  ASSERT_TRUE(first.ok());
  DynamicLibrary second = std::move(first).value();
  DynamicLibrary third = std::move(second);
  EXPECT_NE(third.find("cos"), nullptr);
  Result<DynamicLibrary> fourth = DynamicLibrary::open({"libm.so.6"});
  ASSERT_TRUE(fourth.ok());
  *fourth = std::move(third);
  EXPECT_NE(fourth->find("cos"), nullptr);
}

}  // namespace
}  // namespace wt
