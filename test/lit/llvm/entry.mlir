// RUN: lamina opt %s --pass-pipeline=fuse,plan-buffers,lower-kernels,llvm | FileCheck %s
// RUN: lamina opt %s --pass-pipeline=fuse,plan-buffers,lower-kernels | lamina opt - --pass-pipeline=llvm | lamina opt - | FileCheck %s

// Only kernels are left. An entry point takes the words of a launch and a range of units, and
// returns a status.

// CHECK-NOT:   func.func
// CHECK-NOT:   array.
// CHECK:       llvm.func internal @[[KERNEL:kernel_[0-9a-f]+]](
// CHECK:         llvm.load {{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK:         llvm.fneg {{.*}} : vector<16xf32>
// CHECK:         llvm.intr.masked.store
// CHECK:       llvm.func @[[KERNEL]]_entry(%arg0: !llvm.ptr, %arg1: i64, %arg2: i64) -> i32
// CHECK:         %[[IN:.*]] = llvm.getelementptr %arg0[0] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:    llvm.load %[[IN]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[OUT:.*]] = llvm.getelementptr %arg0[1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:    llvm.load %[[OUT]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[EXTENT:.*]] = llvm.getelementptr %arg0[2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-NEXT:    llvm.load %[[EXTENT]] : !llvm.ptr -> i64
// CHECK:         llvm.call @[[KERNEL]](%arg1, %arg2,
// CHECK-NEXT:    %[[STATUS:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT:    llvm.return %[[STATUS]] : i32
func.func @negative(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = "array.negative"(%x) : (tensor<1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}
