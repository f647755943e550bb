// RUN: lamina opt %s --pass-pipeline="builtin.module(canonicalize,func.func(cse)),dce" | FileCheck %s --check-prefixes=CHECK,UPSTREAM
// RUN: lamina opt %s --pass-pipeline=canonicalize,sccp --print-ir-after-all 2>&1 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: not lamina opt %s --pass-pipeline=one-shot-bufferize 2>&1 | FileCheck %s --check-prefix=FAIL

// A bare name is Lamina's pass; in an anchor, names are MLIR's.
// OWN:          // ----- after canonicalize
// OWN-LABEL:    func.func @f
// OWN:          arith.addi
// OWN-NOT:      array.negative
// OWN:          // ----- after sccp
// CHECK-LABEL:  func.func @f
// UPSTREAM-NOT: arith.addi
// UPSTREAM:     array.negative
// OWN-NOT:      array.negative
// FAIL:         pass one-shot-bufferize failed: {{.*}}pipelines.mlir:[[#@LINE+6]]:8: {{.*}}op was not bufferized
// FAIL-NEXT:    reproduce with: lamina opt --pass-pipeline=one-shot-bufferize {{.*}}pipelines.mlir
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, i32) {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %sum = arith.addi %c1, %c2 : i32
  %0 = "array.negative"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "array.negative"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %sum : tensor<4xf32>, i32
}
