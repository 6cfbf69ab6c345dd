import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { planSteps } from '../../../src/base/citus/distribute-tables.ts'
import {
  exceptions,
  findProblem,
  type PlacedTable,
  placeTables,
  readTables,
  type TableShape,
} from '../../../src/base/citus/table-placement.ts'
import { createsTable, splitStatements } from '../../../src/base/migrate.ts'
import { testDatabase } from '../../support/database.ts'

const table = (name: string, key: string, more: Partial<TableShape> = {}): TableShape => ({
  name,
  key: key.split(' '),
  uniques: [],
  references: [],
  ...more,
})

const rules: [what: string, tables: TableShape[], place: string][] = [
  ['with the workspace first in its key is distributed', [table('t', 'workspace_id id')], 'spread'],
  ['with the scope first in its key is distributed', [table('t', 'scope_id id')], 'spread'],
  ['of the installation stays on the coordinator', [table('t', 'id')], 'coordinator'],
  [
    'with a unique key that includes the workspace is distributed',
    [table('t', 'workspace_id id', { uniques: [['workspace_id', 'name']] })],
    'spread',
  ],
  [
    'with a unique key without the workspace is a reference table',
    [table('t', 'workspace_id id', { uniques: [['slug']] })],
    'everywhere',
  ],
  [
    'of the installation that a distributed table references is a reference table',
    [table('t', 'id'), table('u', 'workspace_id id', { references: ['t'] })],
    'everywhere',
  ],
  [
    'that a reference table references is a reference table, transitively',
    [table('t', 'id'), table('s', 'id', { references: ['t'] }), table('u', 'workspace_id id', { references: ['s'] })],
    'everywhere',
  ],
  [
    'that only a coordinator table references stays on the coordinator',
    [table('t', 'id'), table('u', 'id', { references: ['t'] })],
    'coordinator',
  ],
]
for (const [what, tables, place] of rules) {
  test(`a table ${what}`, () => {
    assert.equal(placeTables(tables).get('t')?.kind, place)
  })
}

test('every table of the schema has a placement: a new reference or local table is a decision', async () => {
  const tables = await readTables((await testDatabase()).db.sql, [])
  const named = (kind: string) => tables.filter(({ placement }) => placement.kind === kind).map(({ name }) => name)
  // Reference tables, copied to every server: for small tables with few writes.
  assert.deepEqual(named('everywhere'), [
    'api_keys',
    'connections',
    'form_slugs',
    'forms',
    'invitations',
    'members',
    'sessions',
    'users',
    'workspaces',
  ])
  // Tables on the coordinator that don't grow with the workspaces, or belong to people and the installation.
  assert.deepEqual(named('coordinator'), [
    'chores',
    'key_rotations',
    'known_sign_ins',
    'login_attempts',
    'mails',
    'media_store',
    'migrations',
    'process_writes',
    'push_keys',
    'rate_limits',
    'scim_groups',
    'scim_members',
    'scim_users',
    'secrets',
    'sign_in_challenges',
    'sign_in_links',
    'sso_identities',
    'sso_logouts',
    'sso_providers',
    'team_tokens',
  ])
  assert.ok(named('spread').length >= 60)
  assert.deepEqual(
    tables.map(({ kind }) => kind).filter((kind) => kind !== 'coordinator'),
    [],
    'a single server has all tables',
  )
  const names = tables.map(({ name }) => name)
  assert.deepEqual(
    Object.keys(exceptions).filter((name) => !names.includes(name)),
    [],
  )
})

const placed = (name: string, placement: PlacedTable['placement'], more: Partial<PlacedTable> = {}): PlacedTable => ({
  ...table(name, 'id'),
  placement,
  kind: 'coordinator',
  distributionColumn: null,
  rows: 0,
  bytes: 0,
  hasRows: false,
  ...more,
})
const spread = { kind: 'spread', by: 'workspace_id' } as const
const everywhere = { kind: 'everywhere' } as const
const told = (steps: ReturnType<typeof planSteps>) =>
  steps.map((step) => `${step.kind} ${'table' in step ? step.table : 'key' in step ? step.key.name : ''}`.trim())

test('foreign keys are removed first, then reference tables, then distributed tables by size; foreign keys are restored last', () => {
  const leads = placed('leads', spread, { references: ['workspaces'], bytes: 9, hasRows: true })
  const tables = [
    leads,
    placed('notes', spread, { bytes: 5 }),
    placed('workspaces', everywhere),
    placed('chores', { kind: 'coordinator' }),
  ]
  const steps = planSteps({ tables, keys: null })
  assert.deepEqual(told(steps), [
    'take keys away',
    'copy everywhere workspaces',
    'spread notes',
    'spread leads',
    'clear leads',
    'end',
  ])
  assert.deepEqual(
    steps.flatMap((step) => (step.kind === 'spread' ? [step.colocatedWith] : [])),
    [null, 'notes'],
    'all tables are colocated, so that a workspace is complete on its server',
  )
})

test('an interrupted distribution continues with the remaining steps and does not remove foreign keys again', () => {
  const key = { table: 'leads', name: 'leads_key', references: 'workspaces', definition: '' }
  const tables = [
    placed('leads', spread),
    placed('notes', spread, { kind: 'spread', hasRows: true }),
    placed('workspaces', everywhere, { kind: 'everywhere' }),
  ]
  assert.deepEqual(told(planSteps({ tables, keys: [key] })), [
    'spread leads',
    'clear notes',
    'put key back leads_key',
    'end',
  ])
})

test('there are no steps if every table is placed', () => {
  const tables = [placed('leads', spread, { kind: 'spread' }), placed('chores', { kind: 'coordinator' })]
  assert.deepEqual(planSteps({ tables, keys: null }), [])
})

test('a script is split at the semicolons that end statements', () => {
  const script =
    "-- of; two\ncreate table a (t text default ';');\n/* ; */ do $x$ begin perform 1; end $x$;\n-- the end;\n"
  const statements = splitStatements(script)
  assert.equal(statements.length, 2)
  assert.deepEqual(statements.map(createsTable), [true, false])
  assert.ok(createsTable('create unlogged table a (n int)'))
  assert.ok(!createsTable('create table b partition of a for values in (1)'))
})

const fine = { version: '13.2.2', isCoordinator: true, isListed: true, nodes: ['a:5432'], shards: 32 }
const problems: [what: string, server: Parameters<typeof findProblem>[0], problem: RegExp | null][] = [
  ['everything that it needs', fine, null],
  ['no extension', null, /create extension citus/],
  ['an old version', { ...fine, version: '12.1' }, /requires Citus 13 or later.*12\.1/],
  ['no version', { ...fine, version: '' }, /an unknown version/],
  ['a worker', { ...fine, isCoordinator: false }, /leads to a Citus worker/],
  ['no entry of the coordinator', { ...fine, isListed: false }, /citus_set_coordinator_host/],
  ['no other servers', { ...fine, nodes: [] }, /citus_add_node/],
]
for (const [what, server, problem] of problems) {
  test(`a server with ${what} is ${problem === null ? 'accepted' : 'refused with advice'}`, () => {
    if (problem === null) assert.equal(findProblem(server), null)
    else assert.match(findProblem(server) ?? '', problem)
  })
}

const migrations = fileURLToPath(new URL('../../../migrations', import.meta.url))
/** Earlier ones were released before tables could be distributed. */
const firstOnSpread = 44

test('migrations work on distributed tables: a constraint of a new column, or a drop, is its own statement', () => {
  const bad = readdirSync(migrations)
    .filter((file) => Number(file.slice(0, 4)) >= firstOnSpread)
    .flatMap((file) =>
      splitStatements(readFileSync(join(migrations, file), 'utf8'))
        .filter((text) => /\badd column\b[^,;]*\b(?:check|references|unique|primary key)\b|^\s*drop [^;]*,/i.test(text))
        .map((text) => `${file}: ${text}`),
    )
  assert.deepEqual(bad, [])
})
