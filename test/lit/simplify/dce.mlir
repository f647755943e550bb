// RUN: lamina opt %s --pass-pipeline=dce | FileCheck %s

// CHECK-LABEL: func.func @dead
// CHECK-NEXT:    %[[KEPT:.*]] = "array.sqrt"(%arg0)
// CHECK-NEXT:    call @effect(%[[KEPT]])
// CHECK-NEXT:    return
func.func private @effect(tensor<4xf32>) -> tensor<4xf32>
func.func @dead(%x: tensor<4xf32>) {
  %0 = "array.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "array.add"(%0, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "array.multiply"(%1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "array.sqrt"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = call @effect(%3) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
