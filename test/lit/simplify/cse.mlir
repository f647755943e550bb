// RUN: lamina opt %s --pass-pipeline=cse | FileCheck %s

// CHECK-LABEL: func.func @commutes
// CHECK-NEXT:    %[[SUM:.*]] = "array.add"(%arg0, %arg1)
// CHECK-NEXT:    %[[A:.*]] = "array.subtract"(%arg0, %arg1)
// CHECK-NEXT:    %[[B:.*]] = "array.subtract"(%arg1, %arg0)
// CHECK-NEXT:    return %[[SUM]], %[[SUM]], %[[A]], %[[B]]
func.func @commutes(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = "array.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = "array.add"(%y, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = "array.subtract"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = "array.subtract"(%y, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// Attributes count, and so does the sign of zero.
// CHECK-LABEL: func.func @attributes
// CHECK-COUNT-2: array.constant
// CHECK-NOT:     array.constant
// CHECK-COUNT-2: array.reduce_sum
// CHECK-NOT:     array.reduce_sum
func.func @attributes(%x: tensor<2x2xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<1x2xf32>, tensor<2x1xf32>, tensor<1x2xf32>) {
  %0 = "array.constant"() {value = 0.0 : f32, dtype = f32} : () -> tensor<f32>
  %1 = "array.constant"() {value = -0.0 : f32, dtype = f32} : () -> tensor<f32>
  %2 = "array.constant"() {value = 0.0 : f32, dtype = f32} : () -> tensor<f32>
  %3 = "array.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<1x2xf32>
  %4 = "array.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %5 = "array.reduce_sum"(%x) {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<1x2xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<1x2xf32>, tensor<2x1xf32>, tensor<1x2xf32>
}

// Two empty arrays are two buffers to write to.
// CHECK-LABEL: func.func @empty
// CHECK-COUNT-2: array.empty
func.func @empty() -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "array.empty"() {shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  %1 = "array.empty"() {shape = array<i64: 4>, dtype = f32} : () -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
