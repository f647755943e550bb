// RUN: not lamina opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: invalid.mlir:[[#@LINE+2]]:8: array.add(f32[4], f32[5]): operands must have one shape, got f32[4], f32[5]
func.func @shapes(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  %0 = "array.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}
// -----
// CHECK: invalid.mlir:[[#@LINE+2]]:8: array.exp: op expects exactly 1 operands, but got 0
func.func @arity() {
  %0 = "array.exp"() : () -> tensor<4xf32>
  return
}
// -----
// CHECK: invalid.mlir:[[#@LINE+2]]:8: array.transpose(f32[2,3]): (0, 0) is not a permutation of the axes of f32[2,3]
func.func @permutation(%x: tensor<2x3xf32>) {
  %0 = "array.transpose"(%x) {permutation = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}
// -----
// CHECK: invalid.mlir:[[#@LINE+2]]:8: array.constant: 1 : i64 is not a number of dtype float32
func.func @value() {
  %0 = "array.constant"() {value = 1 : i64, dtype = f32} : () -> tensor<f32>
  return
}
// -----
// CHECK: invalid.mlir:[[#@LINE+5]]:8: 'func.call' op result type mismatch
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @fusion(%x: tensor<4xf32>) {
  %0 = func.call @body(%x) {kind = "loop"} : (tensor<4xf32>) -> tensor<5xf32>
  return
}
