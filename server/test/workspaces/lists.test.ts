import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditOf } from '../support/audit.ts'
import { signedInMember } from '../support/member.ts'
import { world } from '../support/world.ts'

/** What a workspace has a list of, which admins write and members use. */
interface List {
  /** What one of them is called in an answer, and in the audit log. */
  one: string
  logged: string
  all: string
  path: string
  /** What tells them apart, and by what the list is sorted. */
  name: string
  rest: Record<string, string>
  change: Record<string, string>
  most: number
  /** Of those that are there already, as many as are to be missing. */
  fill: string
  refused: [body: object, path: string][]
}

const hours = 'Hi {{contact.first_name}}, we are open from 9 to 18.'
const lists: List[] = [
  {
    one: 'label',
    logged: 'label',
    all: 'labels',
    path: '/labels',
    name: 'name',
    rest: { color: 'violet' },
    change: { color: 'green' },
    most: 200,
    fill: `insert into labels (workspace_id, id, name, color, created_at) select $1, gen_random_uuid(), 'x' || n, 'grey', now()`,
    refused: [
      [{ name: ' ', color: 'red' }, 'name'],
      [{ name: 'x'.repeat(51), color: 'red' }, 'name'],
      [{ name: 'VIP', color: 'mauve' }, 'color'],
      [{ name: 'VIP', color: 'red', icon: 'star' }, 'icon'],
    ],
  },
  {
    one: 'cannedReply',
    logged: 'canned_reply',
    all: 'cannedReplies',
    path: '/canned-replies',
    name: 'shortcut',
    rest: { text: hours },
    change: { text: 'We are closed.' },
    most: 500,
    fill: `insert into canned_replies (workspace_id, id, shortcut, text, created_at, updated_at) select $1, gen_random_uuid(), 'x' || n, 'x', now(), now()`,
    refused: [
      [{ shortcut: 'hours', text: 'Hi {{contact.nmae}}' }, 'text'],
      [{ shortcut: 'hours', text: 'Hi {{1}}' }, 'text'],
      [{ shortcut: 'hours', text: ' ' }, 'text'],
      [{ shortcut: 'hours', text: 'x'.repeat(4097) }, 'text'],
      [{ shortcut: 'Opening hours', text: hours }, 'shortcut'],
      [{ text: 'x' }, 'shortcut'],
    ],
  },
  {
    one: 'team',
    logged: 'team',
    all: 'teams',
    path: '/teams',
    name: 'name',
    rest: { assignment: 'manual' },
    change: { assignment: 'least_busy' },
    most: 50,
    fill: `insert into teams (workspace_id, id, name, assignment, max_reassignments, created_at) select $1, gen_random_uuid(), 'x' || n, 'manual', 3, now()`,
    refused: [
      [{ name: ' ' }, 'name'],
      [{ name: 'Sales', assignment: 'random' }, 'assignment'],
      [{ name: 'Sales', answerMinutes: 0 }, 'answerMinutes'],
      [{ name: 'Sales', maxReassignments: 11 }, 'maxReassignments'],
      [{ name: 'Sales', memberIds: ['01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'] }, 'memberIds'],
    ],
  },
]

async function team({ path, name, rest, one, all }: List) {
  const w = await world()
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  return {
    w,
    admin,
    member,
    make: (value: string, by = admin) => by.call('POST', path, { ...rest, [name]: value }),
    idOf: async (value: string) => (await admin.call('POST', path, { ...rest, [name]: value })).body[one].id,
    names: async () => (await member.call('GET', path)).body[all].map((each: Record<string, string>) => each[name]),
  }
}

for (const list of lists) {
  const { one, logged, all, path, name, rest, change, most, fill, refused } = list

  test(`admins edit ${all}, members list them sorted, and the log records changes, with ids in any case`, async () => {
    const { w, admin, make, names } = await team(list)
    const { status, body } = await make('hours')
    assert.deepEqual([status, body[one][name]], [201, 'hours'])
    const { id } = body[one]
    await make('address')
    assert.deepEqual(await names(), ['address', 'hours'])
    const changed = (await admin.call('PATCH', `${path}/${id.toUpperCase()}`, change)).body[one]
    assert.deepEqual({ ...changed, ...change, [name]: 'hours' }, changed)
    const renamed = (await admin.call('PATCH', `${path}/${id}`, { [name]: 'open' })).body[one]
    assert.deepEqual({ ...renamed, ...rest, ...change, [name]: 'open' }, renamed)
    assert.equal((await admin.call('DELETE', `${path}/${id}`)).status, 200)
    assert.equal((await admin.call('DELETE', `${path}/${id}`)).status, 404)
    assert.equal((await admin.call('PATCH', `${path}/${id}`, change)).status, 404)
    assert.deepEqual(await names(), ['address'])
    const told = ['created', 'changed', 'changed', 'deleted'].map((what) => [`${logged}.${what}`, `${logged}:${id}`])
    const log = (await auditOf(w, `${logged}.`)).filter(([, target]) => target === `${logged}:${id}`)
    assert.deepEqual(log, told)
  })

  test(`members cannot edit ${all}, and workspaces are separate`, async () => {
    const { member, make, idOf } = await team(list)
    const stranger = await team(list)
    const id = await idOf('hours')
    assert.equal((await make('open', member)).status, 403)
    for (const [by, status] of [
      [member, 403],
      [stranger.admin, 404],
    ] as const) {
      assert.equal((await by.call('PATCH', `${path}/${id}`, change)).status, status)
      assert.equal((await by.call('DELETE', `${path}/${id}`)).status, status)
    }
    assert.deepEqual(await stranger.names(), [])
    assert.equal((await stranger.make('hours')).status, 201)
  })

  test(`${all} have a unique ${name}, also after a change`, async () => {
    const { admin, make, idOf } = await team(list)
    await make('hours')
    const taken = await make('hours')
    assert.deepEqual([taken.status, taken.body.data], [409, { field: name }])
    const id = await idOf('other')
    assert.equal((await admin.call('PATCH', `${path}/${id}`, { [name]: 'hours' })).status, 409)
  })

  test(`a workspace has at most ${most} ${all}, even with three concurrent requests`, async () => {
    const { w, make } = await team(list)
    await w.db.sql.unsafe(`${fill.replace('$1', `'${w.workspaceId}'`)} from generate_series(1, ${most - 1}) as n`)
    const answers = await Promise.all(['a', 'b', 'c'].map((value) => make(value)))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409])
  })

  test(`invalid ${all} are 400, naming the field`, async () => {
    const { admin } = await team(list)
    for (const [body, field] of refused) {
      const answer = await admin.call('POST', path, body)
      assert.deepEqual([answer.status, answer.body.data.issues[0].path], [400, field], JSON.stringify(body))
    }
  })
}

test('label names are unique, ignoring case and surrounding spaces', async () => {
  const [labels = assert.fail()] = lists
  const { make, names } = await team(labels)
  await make(' VIP ')
  assert.equal((await make('vip')).status, 409)
  assert.deepEqual(await names(), ['VIP'])
})
