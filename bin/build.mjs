import { runProgram } from './runtime.mjs'

await runProgram(new URL('../scripts/build.ts', import.meta.url))
