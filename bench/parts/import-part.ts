import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../server/test/support/program/run-command.ts'
import { databasePidOf, freePort, serviceEnvironment, startService } from '../../server/test/support/program/service.ts'
import { type CpuTime, startMeter } from '../cpu-time.ts'
import { cpuCell, cpuHead } from '../figures.ts'
import { person } from '../people.ts'

/** CPU time is per row. */
export interface Imported {
  seconds: number
  cpu: CpuTime | null
}

/** Prints the duration of `parley import` of a file with this many new leads, with a service run by `parley serve`. */
export async function runImport(rows: number): Promise<Imported> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-import-'))
  const env = serviceEnvironment(folder, await freePort())
  await parley(['workspace', 'create', 'Bench', '--quota', '0'])
  const service = await startService({ folder, port: Number(env.PARLEY_PORT) })
  try {
    const file = join(folder, 'leads.csv')
    await writeFile(file, csv(rows))
    const cpuEach = startMeter(service, { pid: await databasePidOf(folder) })
    const startedMs = performance.now()
    const done = JSON.parse(await parley(['import', file, '--json']))
    const seconds = (performance.now() - startedMs) / 1000
    if (done.created !== rows) throw new Error(`import: ${done.created} of ${rows} rows created a lead`)
    const cpu = cpuEach(rows)
    const rate = `${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} a second`
    console.log(`\nimport of ${rows} rows: ${rate}; ${cpuHead} of a row: ${cpuCell(cpu)}`)
    return { seconds, cpu }
  } finally {
    service.kill('SIGTERM')
    await service.exited
    await rm(folder, { recursive: true, force: true })
  }

  async function parley(args: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await runCommand(args, env)
    if (exitCode !== 0) throw new Error(`parley ${args[0]} failed: ${stderr}`)
    return stdout
  }
}

const fields = ['externalRef', 'firstName', 'lastName', 'email', 'phone', 'status', 'source', 'estimatedValue'] as const

function csv(rows: number): string {
  const lines = Array.from({ length: rows }, (_, n) => {
    const one = person(n)
    return fields.map((field) => one[field]).join(',')
  })
  return `${[fields.join(','), ...lines].join('\n')}\n`
}
