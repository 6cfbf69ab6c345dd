// The part of `test.ts` that runs on the bridge: the cases in order, each with its rounds.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { postgresFolder } from '../packages.ts'
import { runCase } from './fault-test.ts'
import { type CaseResult, tableOf } from './figures.ts'
import { readOptions } from './options.ts'
import { pageOf } from './page.ts'

const page = fileURLToPath(new URL('../../../docs/measurements/cluster.md', import.meta.url))
const { chosen, rounds, minutes, write, json } = readOptions(process.argv.slice(2))
const startedAt = performance.now()
const endsAt = startedAt + minutes * 60_000
const log = (words: string) => {
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  console.log(`${String(Math.floor(seconds / 60)).padStart(3)}:${String(seconds % 60).padStart(2, '0')}  ${words}`)
}

const results: CaseResult[] = []
for (const one of chosen) {
  log(`${one.title}: ${rounds} rounds`)
  results.push(await runCase(one, rounds, endsAt, log))
  if (json !== undefined) writeFileSync(json, JSON.stringify(results, null, 2))
}
console.log(`\n${tableOf(results)}\n`)
const findings = results.flatMap(({ name, findings: all }) => all.map((words) => `${name}: ${words}`))
for (const words of findings.slice(0, 50)) console.log(words)
const cut = results.filter(({ rounds: done }) => done < rounds)
for (const { name, rounds: done } of cut) console.log(`${name}: time limit reached after ${done} of ${rounds} rounds`)
if (write) writeFileSync(page, pageOf(results, postgresFolder() ?? ''))
process.exit(findings.length === 0 ? 0 : 1)
