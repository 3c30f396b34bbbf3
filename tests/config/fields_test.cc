// SPDX-License-Identifier: Apache-2.0
#include "config/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <set>

#include "config/enum_names.h"
#include "problem/problem.h"
#include "rules/rules.h"

namespace wt {
namespace {

using testing::HasSubstr;

// Values other than the default that the field can hold: all of an enumeration, edges and neighbours of a number.
std::vector<int64_t> other_values(const Field& field) {
  std::vector<int64_t> values;
  const int64_t standard = field.default_value();
  if (field.kind == Field::Kind::kEnum) {
    for (size_t i = 0; i < field.names().names.size(); ++i) values.push_back(static_cast<int64_t>(i));
  } else if (field.kind == Field::Kind::kHash) {
    values = {1, 0x7fffffffffffffff, -1, 0x123456789abcdef0};
  } else {
    for (const int64_t value : {-32768, -2, -1, 0, 1, 2, 3, 4, 8, 11, 12, 16, 111, 128, 255, 256, 1024, 32767})
      if (field.fits(value)) values.push_back(value);
  }
  std::erase(values, standard);
  return values;
}

bool is_identifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const char c : name)
    if (c != '_' && !std::isalnum(static_cast<unsigned char>(c))) return false;
  return true;
}

TEST(Fields, CoverEveryByteOnce) {
  std::set<int> offsets;
  std::set<std::string_view> paths;
  for (const Field& field : fields()) {
    EXPECT_TRUE(offsets.insert(field.offset).second) << field.path;
    EXPECT_TRUE(paths.insert(field.path).second) << field.path;
    EXPECT_EQ(find_field(field.path), &field);
    EXPECT_LE(field.offset + field.bytes, sizeof(KernelConfig));
  }
}

TEST(Fields, SetAndGetReachTheMember) {
  KernelConfig config;
  find_field("gemm.tile.n")->set(config, 256);
  find_field("direct.tile_w")->set(config, -1);
  find_field("gemm.pipeline")->set(config, static_cast<int>(Pipeline::kWavelet));
  find_field("epilogue.user_hash")->set(config, -2);
  find_field("gemm.swap_ab")->set(config, 1);
  EXPECT_EQ(config.gemm.tile.n, 256);
  EXPECT_EQ(config.direct.tile_w, -1);
  EXPECT_EQ(config.gemm.pipeline, Pipeline::kWavelet);
  EXPECT_EQ(config.epilogue.user_hash, 0xfffffffffffffffeull);
  EXPECT_TRUE(config.gemm.swap_ab);
  EXPECT_EQ(find_field("direct.tile_w")->get(config), -1);
}

// Every single change and every pair of changes: name, key, hash and order tell all of them apart, JSON returns them.
TEST(Fields, SinglesAndPairsAreToldApart) {
  std::vector<KernelConfig> configs{KernelConfig{}};
  for (const Field& field : fields()) {
    for (const int64_t value : other_values(field)) {
      KernelConfig config;
      field.set(config, value);
      configs.push_back(config);
    }
  }
  for (size_t i = 0; i < fields().size(); ++i) {
    for (size_t j = i + 1; j < fields().size(); ++j) {
      const std::vector<int64_t> first = other_values(fields()[i]), second = other_values(fields()[j]);
      for (size_t v = 0; v < 2 && v < first.size(); ++v) {
        KernelConfig config;
        fields()[i].set(config, first[v]);
        fields()[j].set(config, second[second.size() - 1 - v % second.size()]);
        configs.push_back(config);
      }
    }
  }
  std::set<std::string> names, keys;
  std::set<uint64_t> hashes;
  std::set<KernelConfig, ConfigLess> ordered;
  for (const KernelConfig& config : configs) {
    const std::string name = name_of(config);
    EXPECT_TRUE(is_identifier(name)) << name;
    EXPECT_LE(name.size(), kMaxNameLength);
    EXPECT_TRUE(names.insert(name).second) << name << " stands for two configs, one is " << key_of(config);
    EXPECT_TRUE(keys.insert(key_of(config)).second);
    EXPECT_TRUE(hashes.insert(hash_of(config)).second);
    EXPECT_TRUE(ordered.insert(config).second);
  }
  EXPECT_GT(configs.size(), 2000u);
  for (size_t i = 0; i < configs.size(); i += 7) {
    for (const JsonFields which : {JsonFields::kAll, JsonFields::kChanged}) {
      const auto back = config_from_json(to_json(configs[i], which));
      ASSERT_TRUE(back.ok()) << back.status().message();
      EXPECT_EQ(*back, configs[i]) << key_of(configs[i]);
    }
  }
}

TEST(Fields, JsonReturnsEveryField) {
  for (const Field& field : fields()) {
    for (const int64_t value : other_values(field)) {
      KernelConfig config;
      field.set(config, value);
      const auto back = config_from_json(to_json(config));
      ASSERT_TRUE(back.ok()) << field.path << ": " << back.status().message();
      EXPECT_EQ(*back, config) << field.path;
    }
  }
}

// What a field says in a name is said by no other field.
TEST(Fields, TagsBelongToOneField) {
  std::map<std::string, std::string_view> owner;
  const std::string plain = name_of(KernelConfig{});
  for (const Field& field : fields()) {
    if (field.place != Field::Place::kOptional) continue;
    for (const int64_t value : other_values(field)) {
      KernelConfig config;
      field.set(config, value);
      std::string name = name_of(config);
      ASSERT_EQ(name.find(plain), 0u) << name;
      const auto [at, fresh] = owner.emplace(name.substr(plain.size()), field.path);
      EXPECT_TRUE(fresh) << at->first << " is said by " << at->second << " and " << field.path;
    }
  }
}

TEST(Fields, NamesReadWell) {
  KernelConfig config{.target = Target::kSm90a};
  EXPECT_EQ(name_of(config), "wt_fwd_bf16_nhwc_sm90a_basic_t64x64x32");
  config.direction = Direction::kBackwardWeight;
  config.dims = 3;
  config.layout = Layout::kChannelsFirst;
  config.w = DataType::kF32;
  config.gemm.tile = {128, 64, 32};
  config.gemm.warps = {4, 1, 1};
  config.epilogue.bias = true;
  config.epilogue.activation = Activation::kRelu;
  EXPECT_EQ(name_of(config), "wt_bwd_weight_bf16_fp32_bf16_ncdhw_sm90a_basic_t128x64x32_bias_relu_w4x1x1");
  KernelConfig direct{.kind = Kind::kDepthwiseGather};
  direct.direct.tile_w = 8;
  EXPECT_EQ(name_of(direct), "wt_fwd_bf16_nhwc_sm80_depthwise_gather_tw8");
  KernelConfig portable{.kind = Kind::kPortable};
  portable.gemm.pipeline = Pipeline::kCompV4;
  EXPECT_EQ(name_of(portable), "wt_fwd_bf16_nhwc_sm80_portable_compv4_t64x64x32");
}

TEST(Fields, LongNamesKeepTheirStartAndEndInTheHash) {
  KernelConfig config;
  for (const Field& field : fields()) field.set(config, other_values(field).back());
  KernelConfig neighbour = config;
  neighbour.direct.images = 9;
  const std::string name = name_of(config), other = name_of(neighbour);
  EXPECT_EQ(name.size(), kMaxNameLength);
  EXPECT_EQ(other.size(), kMaxNameLength);
  EXPECT_NE(name, other);
  EXPECT_TRUE(is_identifier(name));
  EXPECT_THAT(name, HasSubstr(fmt::format("_h{:016x}", hash_of(config))));
}

TEST(Fields, ListedKernelsHaveFullNames) {
  for (const KernelConfig& config : list_kernels({.target = Target::kSm90a, .rule_set = RuleSet::kFull}).kernels)
    ASSERT_LT(name_of(config).size(), kMaxNameLength);
}

TEST(Fields, HashAndKeyAreStable) {
  KernelConfig config{.target = Target::kGfx942};
  config.gemm.stages = 2;
  EXPECT_EQ(key_of(config), "target=gfx942,gemm.stages=2");
  EXPECT_EQ(key_of(KernelConfig{}), "");
  EXPECT_EQ(hash_of(KernelConfig{}), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_of(config), 0x254b37ad10be094fu);
}

TEST(Fields, OrderFollowsTheList) {
  const KernelConfig low{.direction = Direction::kForward, .target = Target::kGfx1250};
  const KernelConfig high{.direction = Direction::kBackwardData, .target = Target::kSm80};
  EXPECT_TRUE(compare(low, high) < 0);
  EXPECT_TRUE(compare(high, low) > 0);
  EXPECT_TRUE(compare(low, low) == 0);
}

TEST(Fields, JsonSaysWhatIsWrong) {
  const auto message = [](std::string_view text) {
    const auto result = config_from_json(text);
    return result.ok() ? std::string("accepted") : result.status().message();
  };
  EXPECT_THAT(message(R"({"gemm":{"tiles":{"m":1}}})"), HasSubstr("gemm.tiles.m is not a field"));
  EXPECT_THAT(message(R"({"direction":"sideways"})"),
              HasSubstr("direction=sideways is unknown; choose one of fwd, bwd_data, bwd_weight"));
  EXPECT_THAT(message(R"({"dims":"2"})"), HasSubstr("dims: \"2\" must be an integer"));
  EXPECT_THAT(message(R"({"dims":2.5})"), HasSubstr("dims: 2.5 must be an integer"));
  EXPECT_THAT(message(R"({"dims":300})"), HasSubstr("dims=300 is out of range; it is kept in 8 unsigned bits"));
  EXPECT_THAT(message(R"({"gemm":{"persistent":1}})"), HasSubstr("gemm.persistent: 1 must be true or false"));
  EXPECT_THAT(message(R"({"epilogue":{"user_hash":"12"}})"), HasSubstr("must be a hexadecimal number"));
  EXPECT_THAT(message("[1]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(message("{"), HasSubstr("is not JSON"));
}

TEST(Fields, NamesAgreeWithTheProblemText) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(text_of(static_cast<Direction>(i)), name_of(static_cast<Direction>(i)));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(text_of(static_cast<DataType>(i)), name_of(static_cast<DataType>(i)));
  for (const ActivationFacts& facts : kActivations) EXPECT_EQ(text_of(facts.activation), name_of(facts.activation));
}

// A user cannot choose the kernel that only tests link in.
TEST(Fields, TheTrialKernelIsNoChoice) {
  EXPECT_TRUE(enum_table<Kind>().find("trial"));
  EXPECT_EQ(enum_table<Kind>().choices().find("trial"), std::string::npos);
  EXPECT_NE(enum_table<Kind>().choices().find("tma_halo"), std::string::npos);
}

TEST(Fields, InitializerSaysWhatDiffers) {
  KernelConfig config{.target = Target::kSm90a};
  EXPECT_EQ(initializer_of(KernelConfig{}), "{}");
  config.gemm.tile.m = 128;
  config.gemm.swap_ab = true;
  config.fixed.filter_h = 3;
  config.direct.tile_w = 8;
  config.epilogue.user_hash = 0xab;
  EXPECT_EQ(
      initializer_of(config),
      "{.target = wt::Target::kSm90a, .epilogue = {.user_hash = 0x00000000000000abull}, .gemm = {.tile = {128, 64, "
      "32}, .swap_ab = true}, .fixed = {.filter_h = 3}, .direct = {.tile_w = 8}}");
}

TEST(Fields, InstanceStringNamesTheEssentials) {
  KernelConfig config{.target = Target::kSm90a};
  config.epilogue.bias = true;
  EXPECT_EQ(instance_string(config),
            "fwd sm_90a x=bf16 w=bf16 y=bf16 channels_last 2d basic pipeline=basic_v1 tile=64x64x32 warps=2x2x1 "
            "mma=16x8x16 epilogue.bias=true");
}

}  // namespace
}  // namespace wt
