// RUN: lamina opt %s --pass-pipeline=canonicalize,cse | FileCheck %s

// CHECK-LABEL: func.func @cancel
// CHECK-NEXT:    return %arg0, %arg0
func.func @cancel(%x: tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>) {
  %0 = "array.reshape"(%x) {shape = array<i64: 12>} : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = "array.reshape"(%0) {shape = array<i64: 2, 6>} : (tensor<12xf32>) -> tensor<2x6xf32>
  %2 = "array.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %3 = "array.transpose"(%2) {permutation = array<i64: 1, 0>} : (tensor<6x2xf32>) -> tensor<2x6xf32>
  return %1, %3 : tensor<2x6xf32>, tensor<2x6xf32>
}

// CHECK-LABEL: func.func @slices_merge
// CHECK-NEXT:    "array.slice"(%arg0) {size = array<i64: 2>, start = array<i64: 3>, step = array<i64: -2>}
func.func @slices_merge(%x: tensor<9xf32>) -> tensor<2xf32> {
  %0 = "array.slice"(%x) {start = array<i64: 1>, size = array<i64: 4>, step = array<i64: 2>} : (tensor<9xf32>) -> tensor<4xf32>
  %1 = "array.slice"(%0) {start = array<i64: 1>, size = array<i64: 2>, step = array<i64: -1>} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @split_and_concatenate
// CHECK-NEXT:    return %arg0
func.func @split_and_concatenate(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "array.slice"(%x) {start = array<i64: 0>, size = array<i64: 1>, step = array<i64: 1>} : (tensor<4xf32>) -> tensor<1xf32>
  %1 = "array.slice"(%x) {start = array<i64: 1>, size = array<i64: 3>, step = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
  %2 = "array.concatenate_2"(%0, %1) {axis = 0 : i64} : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// The transpose moves over work that only it needs, to the inputs.
// CHECK-LABEL: func.func @moves_up
// CHECK-NEXT:    %[[X:.*]] = "array.transpose"(%arg0)
// CHECK-NEXT:    %[[EXP:.*]] = "array.exp"(%[[X]])
// CHECK-NEXT:    %[[ROW:.*]] = "array.reshape"(%arg1) {shape = array<i64: 8, 1>}
// CHECK-NEXT:    %[[WIDE:.*]] = "array.broadcast"(%[[ROW]]) {shape = array<i64: 8, 4>}
// CHECK-NEXT:    %[[SUM:.*]] = "array.add"(%[[EXP]], %[[WIDE]])
// CHECK-NEXT:    return %[[SUM]]
func.func @moves_up(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<8x4xf32> {
  %0 = "array.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "array.reshape"(%y) {shape = array<i64: 1, 8>} : (tensor<8xf32>) -> tensor<1x8xf32>
  %2 = "array.broadcast"(%1) {shape = array<i64: 4, 8>} : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %3 = "array.add"(%0, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "array.transpose"(%3) {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// A mean that drops its axis and takes it up again: the division stays with the sum.
// CHECK-LABEL: func.func @mean
// CHECK-NEXT:    %[[SUM:.*]] = "array.reduce_sum"(%arg0) {axes = array<i64: 1>}
// CHECK:         %[[MEAN:.*]] = "array.multiply"(%[[SUM]], %{{.*}}) : {{.*}} -> tensor<4x1xf32>
// CHECK-NEXT:    %[[WIDE:.*]] = "array.broadcast"(%[[MEAN]])
// CHECK-NEXT:    "array.subtract"(%arg0, %[[WIDE]])
func.func @mean(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = "array.reduce_sum"(%x) {axes = array<i64: 1>} : (tensor<4x2xf32>) -> tensor<4x1xf32>
  %1 = "array.reshape"(%0) {shape = array<i64: 4>} : (tensor<4x1xf32>) -> tensor<4xf32>
  %two = "array.constant"() {value = 2.0 : f32, dtype = f32} : () -> tensor<f32>
  %2 = "array.reshape"(%two) {shape = array<i64: 1>} : (tensor<f32>) -> tensor<1xf32>
  %3 = "array.broadcast"(%2) {shape = array<i64: 4>} : (tensor<1xf32>) -> tensor<4xf32>
  %4 = "array.divide"(%1, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = "array.reshape"(%4) {shape = array<i64: 4, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
  %6 = "array.broadcast"(%5) {shape = array<i64: 4, 2>} : (tensor<4x1xf32>) -> tensor<4x2xf32>
  %7 = "array.subtract"(%x, %6) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %7 : tensor<4x2xf32>
}

// Work is not repeated: neither for a second user, nor for every element of a broadcast.
// CHECK-LABEL: func.func @stays
// CHECK-NEXT:    %[[EXP:.*]] = "array.exp"(%arg0) : (tensor<4x1xf32>)
// CHECK-NEXT:    %[[WIDE:.*]] = "array.broadcast"(%[[EXP]])
// CHECK-NEXT:    %[[FLAT:.*]] = "array.reshape"(%[[EXP]])
// CHECK-NEXT:    return %[[WIDE]], %[[FLAT]]
func.func @stays(%x: tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %0 = "array.exp"(%x) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = "array.broadcast"(%0) {shape = array<i64: 4, 8>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = "array.reshape"(%0) {shape = array<i64: 4>} : (tensor<4x1xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4xf32>
}
