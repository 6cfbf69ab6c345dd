import { runProgram } from './runtime.mjs'

await runProgram(new URL('../server/test/run.ts', import.meta.url))
