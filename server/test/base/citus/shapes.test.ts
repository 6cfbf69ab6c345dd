// biome-ignore-all lint/suspicious/noTemplateCurlyInString: sources are read as text
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readTables } from '../../../src/base/citus/table-placement.ts'
import { testDatabase } from '../../support/database.ts'
import { oncePerFile } from '../../support/file-lifecycle.ts'
import { allowed, type Reason } from './allowed-statements.ts'
import { type Fault, faultsOf } from './shapes.ts'
import { statementsIn } from './templates.ts'

const source = fileURLToPath(new URL('../../../src', import.meta.url))
const spread = new Set(['leads', 'queues', 'days'])

const cases: [statement: string, faults: Fault[]][] = [
  ['select id from leads where workspace_id = $1 and id = $2 for update', []],
  ['select id from leads where deleted_at < $1 for update', ['locks rows without naming their workspace']],
  [
    'select id from leads where deleted_at < $1 for no key update skip locked',
    ['locks rows without naming their workspace'],
  ],
  ['select id from leads where deleted_at < $1', []],
  ['select id from workspaces where id = $1 for update', []],
  ['select id from leads where workspace_id = (select $1::uuid)', ['hides the workspace in a subquery']],
  ['select id from leads where $1 for update', []],
  ['update leads set at = $1 where workspace_id = $2 and id = $3', []],
  ['update leads set at = $1 where id = $2', ['writes without naming a workspace']],
  ['update leads set at = $1 where $2', []],
  ['delete from leads where at < $1', ['writes without naming a workspace']],
  ['delete from leads where workspace_id = any ($1::uuid[]) and at < $2', []],
  ['update queues set until = clock_timestamp() where workspace_id = $1', ['uses a volatile function in an update']],
  ['update queues set until = now() where workspace_id = $1', []],
  ['update days set n = case n when 1 then 2 end where workspace_id = $1', ['compares a case with values in a write']],
  ['update days set n = case when n = 1 then 2 end where workspace_id = $1', []],
  ['select case n when 1 then 2 end from days where workspace_id = $1', []],
  ['select exists (select from days) as has_days', ['selects no column in exists']],
  ['select exists (select 1 from days) as has_days', []],
  [
    'update workspaces set has_days = exists (select 1 from days where workspace_id = $1) where id = $1',
    ['changes a shared table by a distributed one'],
  ],
  ['update workspaces set has_days = $1 where id = $2', []],
  ['select clock_timestamp() from leads where workspace_id = $1', []],
  ['update chores set next_at = clock_timestamp()', []],
  [
    "update queues q set until = $1 where workspace_id = $2 and q.until < q.at - interval '1 hour'",
    ['uses a function of a column and an interval in an update'],
  ],
  ['insert into days as d (n) values ($1) on conflict (n) do update set n = d.n + 1 where d.n < $2', []],
  [
    'insert into days as d (n) values ($1) on conflict (n) do update set n = greatest(d.n, now())',
    ['uses more than immutable functions in "do update"'],
  ],
  [
    'insert into days (n) values ($1) on conflict (n) do update set n = (select max(n) from leads where workspace_id = $2)',
    ['uses more than immutable functions in "do update"'],
  ],
  ['insert into days (n) values (gen_random_uuid()) on conflict (n) do nothing', []],
  [
    'update leads l set at = $1 from (select id from leads where workspace_id = $2 order by at limit 1 for update skip locked) as due where l.workspace_id = $2 and l.id = due.id',
    ['may change more rows than its limit'],
  ],
  [
    'with due as (select id from leads where workspace_id = $2 order by at limit 1 for update skip locked) update leads l set at = $1 from due where l.workspace_id = $2 and l.id = due.id',
    [],
  ],
  [
    'with recursive next as (select workspace_id from leads union all select 1 from next) select 1 from next',
    ['recurses without naming a workspace'],
  ],
]
for (const [statement, expected] of cases) {
  test(`${statement}: ${expected.join(', ') || 'accepted'}`, () => {
    assert.deepEqual(faultsOf(statement, spread), expected)
  })
}

test('statements are extracted from sources with their interpolations, ignoring comments, texts and patterns', () => {
  const text = [
    '// `select 1 from comments`',
    "const text = 'select `1` from texts'",
    'const pattern = /[`/]/',
    'const a = sql`select ${columns(`id`)} from leads',
    '  where workspace_id = ${workspace} and ${isLate ? sql`late = ${{ at: 1 }.at}` : sql`true`}`',
    'const b = sql`delete from days`',
    'const words = `no ${statement}`',
  ].join('\n')
  assert.deepEqual(
    statementsIn(text).map((one) => ({ ...one, text: one.text.replace(/\s+/g, ' ') })),
    [
      { line: 4, text: 'select id from leads where workspace_id = $1 and late = $1 true' },
      { line: 6, text: 'delete from days' },
    ],
  )
})

test('no statement has a form that Citus refuses, except those listed with a reason', async () => {
  const found = await faultsOfService()
  assert.ok(found.count > 500, 'the statements are found')
  assert.deepEqual(
    found.faults.filter((one) => !allowed.some((reason) => isSameFault(reason, one))).map(({ told }) => told),
    [],
  )
})

test('every listed exception exists', async () => {
  const { faults } = await faultsOfService()
  const idle = allowed.filter((reason) => !faults.some((one) => isSameFault(reason, one)))
  assert.deepEqual(idle, [])
})

const isSameFault = ({ path, faults }: Reason, one: { path: string; fault: Fault }) =>
  path === one.path && faults.includes(one.fault)

const faultsOfService = oncePerFile(async () => {
  const tables = await readTables((await testDatabase()).db.sql, [])
  const names = new Set(tables.filter(({ placement }) => placement.kind === 'spread').map(({ name }) => name))
  const paths = globSync('**/*.ts', { cwd: source }).map((path) => path.replaceAll('\\', '/'))
  const statements = paths
    .sort()
    .flatMap((path) => statementsIn(readFileSync(join(source, path), 'utf8')).map((one) => ({ path, ...one })))
  const faults = statements.flatMap(({ path, line, text }) =>
    faultsOf(text, names).map((fault) => ({ path, fault, told: `${path}:${line} ${fault}` })),
  )
  return { count: statements.length, faults }
})
