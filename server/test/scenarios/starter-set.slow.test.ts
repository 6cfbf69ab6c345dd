import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startAgent } from '../../src/cli/scenarios/agent-process.ts'
import { type Installation, withTemporaryInstallation } from '../../src/cli/scenarios/temporary-installation.ts'
import { readStarterSet } from '../../src/scenarios/starter-set.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'

// The starter set against the three example agents of the client package, and against one that does everything wrong.

const root = fileURLToPath(new URL('../../../', import.meta.url))
const badAgent = fileURLToPath(new URL('./bad-agent.js', import.meta.url))
const scenarios = readStarterSet()

/** Returns a folder with the examples and the packages that they import. */
async function exampleFolder(): Promise<string> {
  const folder = await newFolder()
  const client = join(folder, 'node_modules', '@parley', 'client')
  await mkdir(client, { recursive: true })
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [compiler, '-p', join(root, 'client'), '--outDir', join(client, 'dist')])
  await cp(join(root, 'client', 'package.json'), join(client, 'package.json'))
  await cp(join(root, 'client', 'examples'), join(folder, 'examples'), { recursive: true })
  const protocol = join('node_modules', '@modelcontextprotocol')
  await symlink(join(root, protocol), join(folder, protocol))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }))
  return folder
}

interface Result {
  name: string
  verdict: string
  checks: { check: string; passed: boolean; actual: string }[]
}

/** Returns for each scenario the expectations that are not met. */
async function faultsOf({ call, url, place }: Installation, program: string): Promise<Map<string, string[]>> {
  const { runId, agents } = await call<{ runId: string; agents: { key: string }[] }>('POST', `${place}/scenario-runs`, {
    scenarios: scenarios.map(({ text }) => text),
    agent: basename(program),
    ...{ speed: 10, parallel: 12, answerSeconds: 8, connectSeconds: 60 },
  })
  const started = agents.map(({ key }) => startAgent(`"${process.execPath}" "${program}"`, url, key))
  let found: { run: { status: string }; results: Result[] } | undefined
  try {
    await until(
      async () => {
        found = await call('GET', `${place}/scenario-runs/${runId}`)
        if (found?.run.status !== 'waiting' && found?.run.status !== 'running') return true
        // Only before the end: then the key stops working, and with it the agent.
        assert.deepEqual(
          started.map((one) => one.problem()).filter((one) => one !== null),
          [],
        )
        return false
      },
      'the end of the run',
      120_000,
    )
  } finally {
    await Promise.all(started.map((one) => one.stop()))
  }
  assert.equal(found?.run.status, 'finished')
  const results = found?.results ?? []
  assert.equal(results.length, scenarios.length)
  return new Map(
    results.map(({ name, checks }) => [
      name,
      [...new Set(checks.filter(({ passed }) => !passed).map(({ check }) => check))],
    ]),
  )
}

/** What the starter set finds in the bad agent. */
const faultsOfBadAgent: Record<string, string[]> = {
  'after-hours': ['handedOver', 'neverSays'],
  'after-the-takeover': ['leavesPeopleAlone'],
  'caption-of-a-picture': ['toolsNotCalled'],
  'changes-her-mind': ['handedOver'],
  'changes-the-lead': ['lead'],
  'data-request': ['handedOver', 'neverSays'],
  'desconto-total': ['neverSays'],
  'devolver-el-dinero': ['handedOver', 'language'],
  'ignore-instructions': ['neverSays'],
  insults: ['neverSays'],
  'opt-out-in-the-settings': ['neverSays'],
  'opt-out-word': ['neverSays'],
  'other-customers': ['neverSays'],
  portuguese: ['language'],
  'quero-meu-dinheiro': ['handedOver', 'language'],
  'refund-insists': ['handedOver', 'messages'],
  'refund-wanted': ['handedOver', 'neverSays'],
  'refund-with-summary': ['handedOver', 'tools'],
  'reveal-instructions': ['neverSays'],
  'sem-propaganda': ['neverSays'],
  spanish: ['language'],
  'threatens-with-a-lawyer': ['handedOver'],
  'three-in-a-row': ['messages', 'costAtMost'],
  'continues-after-hand-back': ['says'],
  'voice-message': ['answers'],
  'wants-a-person': ['handedOver', 'neverSays'],
}

test('the starter set runs against the example agents, and finds the faults of a bad one', {
  timeout: 300_000,
}, async (t) => {
  const folder = await exampleFolder()
  await withTemporaryInstallation(async (installation) => {
    await t.test('the bad agent', async () => {
      const faults = await faultsOf(installation, badAgent)
      const names = [...faults].flatMap(([name, checks]) => (checks.length > 0 ? name : []))
      assert.deepEqual(names.sort(), Object.keys(faultsOfBadAgent).sort())
      for (const [name, checks] of Object.entries(faultsOfBadAgent)) assert.deepEqual(faults.get(name), checks, name)
    })
    for (const [example, passes, fails] of [
      // It repeats what customers say, and never hands over.
      [
        'echo-agent.js',
        ['english', 'three-in-a-row', 'masked-number'],
        ['refund-wanted', 'voice-message', 'threatens-with-a-lawyer'],
      ],
      // They speak only English.
      [
        'triage-agent.js',
        ['refund-wanted', 'refund-with-summary', 'english', 'draft-is-approved'],
        ['portuguese', 'spanish'],
      ],
      ['mcp-agent.js', ['refund-wanted', 'after-hours', 'english', 'draft-is-approved'], ['portuguese', 'spanish']],
    ] as const) {
      await t.test(example, async () => {
        const faults = await faultsOf(installation, join(folder, 'examples', example))
        for (const name of passes) assert.deepEqual(faults.get(name), [], name)
        for (const name of fails) assert.notDeepEqual(faults.get(name), [], name)
      })
    }
    const { workspaces } = await installation.call<{ workspaces: unknown[] }>('GET', '/workspaces')
    assert.equal(workspaces.length, 1, 'no sandbox is listed')
  })
})
