// RUN: lamina opt %s --pass-pipeline=canonicalize | FileCheck %s

// CHECK-LABEL: func.func @trivial
// CHECK-NEXT:    return %arg0, %arg0
func.func @trivial(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
  %0 = "array.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = "array.reduce_max"(%x) {axes = array<i64>} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0, %1 : tensor<1x4xf32>, tensor<1x4xf32>
}

// A float sum keeps its order; extremes do not depend on theirs.
// CHECK-LABEL: func.func @merge
// CHECK-NEXT:    "array.reduce_max"(%arg0) {axes = array<i64: 0, 1>}
// CHECK-NEXT:    "array.reduce_sum"(%arg0) {axes = array<i64: 0>}
// CHECK-NEXT:    "array.reduce_sum"(%{{.*}}) {axes = array<i64: 1>}
func.func @merge(%x: tensor<3x4xf32>) -> (tensor<1x1xf32>, tensor<1x1xf32>) {
  %0 = "array.reduce_max"(%x) {axes = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<1x4xf32>
  %1 = "array.reduce_max"(%0) {axes = array<i64: 1>} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  %2 = "array.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<1x4xf32>
  %3 = "array.reduce_sum"(%2) {axes = array<i64: 1>} : (tensor<1x4xf32>) -> tensor<1x1xf32>
  return %1, %3 : tensor<1x1xf32>, tensor<1x1xf32>
}

// CHECK-LABEL: func.func @nothing
// CHECK:         "array.constant"() {dtype = f32, value = 0.000000e+00 : f32}
// CHECK-NOT:     array.matmul
// CHECK-NOT:     array.reduce_sum
func.func @nothing(%x: tensor<2x0xf32>, %y: tensor<0x3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  %0 = "array.matmul"(%x, %y) : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %1 = "array.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<2x0xf32>) -> tensor<2x1xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x1xf32>
}
