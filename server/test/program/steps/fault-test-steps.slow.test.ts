import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { faultTests } from '../../../../scripts/faults/fault-tests.ts'
import { commandsUnder, type } from '../../support/program/operations.ts'
import { shellEnvironment } from '../../support/program/shell.ts'
import { until } from '../../support/until.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const [cluster = '', deaths = '', ...more] = await commandsUnder('Test a failover')
const [faults = '', ...others] = await commandsUnder('Test other faults')
const typed = (commands: string) => type(commands, root, shellEnvironment({}))
/** The shortest of them. */
const trial = 'kill-pool'

test('the commands of "Test other faults" list the tests and run them', async () => {
  assert.deepEqual([more, others], [[], []])
  const [list = '', run = ''] = faults.trim().split('\n')
  const told = await typed(list)
  for (const { name, guarantee } of faultTests)
    assert.match(told, new RegExp(`^${name} +${guarantee.slice(0, 20)}`, 'm'))
  const some = [...run.matchAll(/--only (\S+)/g)].flatMap(([, names = '']) => names.split(','))
  assert.ok(some.length > 0)
  for (const name of some)
    assert.ok(
      faultTests.some((one) => one.name === name),
      name,
    )
  const short = run.replace(/--minutes 120 .*/, `--minutes 0.1 --only ${trial}`)
  assert.match(await typed(short), new RegExp(`^\\| ${trial} \\| [1-9]\\d* \\| kills \\| [1-9]\\d* \\| 0 \\|`, 'm'))
})

test('the commands of "Test a failover" create a cluster, kill its machines, and remove it', {
  timeout: 1_200_000,
  skip: whyNot(),
}, async () => {
  const [up = '', status = '', down = ''] = cluster.trim().split('\n')
  const [ask = '', die = '', hang = '', cut = ''] = deaths
    .trim()
    .split('\n')
    .map((line) => line.replace(/ +#.*/, ''))
  const served = () => until(async () => (await typed(ask).catch(() => '')) === '{"status":"ok"}', 'an answer', 120_000)
  try {
    await typed(up)
    assert.match(await typed(status), /db1/)
    await served()
    for (const [begin, end] of [
      [hang, hang.replace('-STOP', '-CONT')],
      [cut, cut.replace(/down$/, 'up')],
      [die, ''],
    ] as const) {
      await typed(begin)
      await served()
      await typed(end)
    }
  } finally {
    await typed(down)
  }
})

function whyNot(): string | false {
  if (process.env.CLUSTER_TEST !== '1') return 'It takes minutes, and installs: CLUSTER_TEST=1'
  return process.getuid?.() !== 0 && 'Network namespaces take root'
}
