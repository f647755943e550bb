// RUN: lamina opt %s --pass-pipeline=fuse | FileCheck %s
// RUN: lamina opt %s --pass-pipeline=fuse | lamina opt - | FileCheck %s

// Concatenations and pads are updates of one buffer, in place.

// What computes a piece writes it where it goes.
// CHECK-LABEL: func.func @concatenate(
// CHECK-NEXT:    %0 = "array.empty"() {dtype = f32, shape = array<i64: 4, 7>}
// CHECK-NEXT:    %1 = call @concatenate_fusion0(%arg0, %0) {kind = "loop"}
// CHECK-NEXT:    %2 = call @concatenate_fusion1(%arg1, %1) {kind = "loop"}
// CHECK-NEXT:    return %2
// CHECK-LABEL: func.func private @concatenate_fusion0(
// CHECK-NEXT:    %0 = "array.exp"(%arg0)
// CHECK-NEXT:    %1 = "array.slice_update"(%arg1, %0) {start = array<i64: 0, 0>, step = array<i64: 1, 1>}
// CHECK-NEXT:    return %1
// CHECK-LABEL: func.func private @concatenate_fusion1(
// CHECK-NEXT:    %0 = "array.slice_update"(%arg1, %arg0) {start = array<i64: 0, 5>, step = array<i64: 1, 1>}
// CHECK-NEXT:    return %0
func.func @concatenate(%x: tensor<4x5xf32>, %y: tensor<4x2xf32>) -> tensor<4x7xf32> {
  %0 = "array.exp"(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = "array.concatenate_2"(%0, %y) {axis = 1 : i64} : (tensor<4x5xf32>, tensor<4x2xf32>) -> tensor<4x7xf32>
  return %1 : tensor<4x7xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-NEXT:    %0 = "array.empty"() {dtype = f32, shape = array<i64: 7>}
// CHECK-NEXT:    %1 = call @pad_fusion0(%0) {kind = "loop"}
// CHECK-NEXT:    %2 = call @pad_fusion1(%arg0, %1) {kind = "loop"}
// CHECK-NEXT:    return %2
// CHECK-LABEL: func.func private @pad_fusion0(
// CHECK-NEXT:    %0 = "array.constant"() {dtype = f32, value = 0.000000e+00 : f32}
// CHECK-NEXT:    %1 = "array.reshape"(%0) {shape = array<i64: 1>}
// CHECK-NEXT:    %2 = "array.broadcast"(%1) {shape = array<i64: 7>}
// CHECK-NEXT:    %3 = "array.slice_update"(%arg0, %2) {start = array<i64: 0>, step = array<i64: 1>}
// CHECK-NEXT:    return %3
// CHECK-LABEL: func.func private @pad_fusion1(
// CHECK-NEXT:    %0 = "array.slice_update"(%arg1, %arg0) {start = array<i64: 1>, step = array<i64: 1>}
// CHECK-NEXT:    return %0
func.func @pad(%x: tensor<4xf32>) -> tensor<7xf32> {
  %0 = "array.constant"() {value = 0.0 : f32, dtype = f32} : () -> tensor<f32>
  %1 = "array.pad"(%x, %0) {low = array<i64: 1>, high = array<i64: 2>} : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

// Inputs never change.
// CHECK-LABEL: func.func @input_is_copied(
// CHECK-NEXT:    %0 = "array.empty"() {dtype = f32, shape = array<i64: 9>}
// CHECK-NEXT:    %1 = call @input_is_copied_fusion0(%arg0, %0) {kind = "loop"}
// CHECK-NEXT:    %2 = call @input_is_copied_fusion1(%arg1, %1) {kind = "loop"}
// CHECK-NEXT:    return %2
// CHECK-LABEL: func.func private @input_is_copied_fusion0(
// CHECK-NEXT:    %0 = "array.slice_update"(%arg1, %arg0) {start = array<i64: 0>, step = array<i64: 1>}
// CHECK-NEXT:    return %0
// CHECK-LABEL: func.func private @input_is_copied_fusion1(
// CHECK-NEXT:    %0 = "array.slice_update"(%arg1, %arg0) {start = array<i64: 3>, step = array<i64: 1>}
// CHECK-NEXT:    return %0
func.func @input_is_copied(%x: tensor<9xf32>, %y: tensor<2xf32>) -> tensor<9xf32> {
  %0 = "array.slice_update"(%x, %y) {start = array<i64: 3>, step = array<i64: 1>} : (tensor<9xf32>, tensor<2xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// A value that is used once is updated in place.
// CHECK-LABEL: func.func @in_place(
// CHECK-NEXT:    %0 = call @in_place_fusion0(%arg0) {kind = "loop"}
// CHECK-NEXT:    %1 = call @in_place_fusion1(%arg1, %0) {kind = "loop"}
// CHECK-NEXT:    return %1
// CHECK-LABEL: func.func private @in_place_fusion0(
// CHECK-NEXT:    %0 = "array.exp"(%arg0)
// CHECK-NEXT:    return %0
// CHECK-LABEL: func.func private @in_place_fusion1(
// CHECK-NEXT:    %0 = "array.slice_update"(%arg1, %arg0) {start = array<i64: 3>, step = array<i64: 1>}
// CHECK-NEXT:    return %0
func.func @in_place(%x: tensor<9xf32>, %y: tensor<2xf32>) -> tensor<9xf32> {
  %0 = "array.exp"(%x) : (tensor<9xf32>) -> tensor<9xf32>
  %1 = "array.slice_update"(%0, %y) {start = array<i64: 3>, step = array<i64: 1>} : (tensor<9xf32>, tensor<2xf32>) -> tensor<9xf32>
  return %1 : tensor<9xf32>
}
