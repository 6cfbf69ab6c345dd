import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedInMember } from '../../support/member.ts'
import { world } from '../../support/world.ts'

const file = (...events: string[]) => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...events, 'END:VCALENDAR'].join('\r\n')
const day = (name: string, date: string) =>
  ['BEGIN:VEVENT', `UID:${name}`, `SUMMARY:${name}`, `DTSTART;VALUE=DATE:${date}`, 'END:VEVENT'].join('\r\n')

const alwaysOpen = [{ from: '00:00', to: '24:00' }]
const week = {
  ...{ monday: alwaysOpen, tuesday: alwaysOpen, wednesday: alwaysOpen, thursday: alwaysOpen, friday: alwaysOpen },
  ...{ saturday: alwaysOpen, sunday: alwaysOpen },
}

test('holidays are entered, imported, and replaced by another import of the same calendar', async () => {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  const own = { name: 'Inventory', from: '2026-07-01', to: '2026-07-02', calendar: null }
  assert.equal((await admin.call('PATCH', '', { holidays: [own] })).status, 200)
  const first = await admin.call('POST', '/holidays/import', {
    calendar: 'Brazil',
    text: file(day('Tiradentes', '20260421'), day('Past', '20250421')),
  })
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.deepEqual([first.body.imported, first.body.ignored], [1, 1])
  await admin.call('POST', '/holidays/import', { calendar: 'City', text: file(day('Saint', '20260613')) })
  await admin.call('POST', '/holidays/import', { calendar: 'Brazil', text: file(day('Christmas', '20261225')) })
  const { body } = await admin.call('GET', '')
  assert.deepEqual(body.workspace.holidays, [
    { name: 'Saint', from: '2026-06-13', to: '2026-06-13', calendar: 'City' },
    own,
    { name: 'Christmas', from: '2026-12-25', to: '2026-12-25', calendar: 'Brazil' },
  ])
})

test('a file that is no calendar, and holidays that do not exist, change nothing', async () => {
  const w = await world()
  const admin = await signedInMember(w, 'admin')
  await admin.call('POST', '/holidays/import', { calendar: 'Brazil', text: file(day('Christmas', '20261225')) })
  const before = (await admin.call('GET', '')).body.workspace.holidays
  const refused = [
    await admin.call('POST', '/holidays/import', { calendar: 'Brazil', text: 'Hello' }),
    await admin.call('POST', '/holidays/import', { calendar: 'Brazil', text: 'x'.repeat(262_145) }),
    await admin.call('PATCH', '', { holidays: [{ name: 'x', from: '2026-02-30', to: '2026-02-30', calendar: null }] }),
    await admin.call('PATCH', '', { holidays: [{ name: 'x', from: '2026-02-20', to: '2026-02-19', calendar: null }] }),
  ]
  assert.deepEqual(
    refused.map(({ status, body }) => [status, body.data.issues[0].path]),
    [
      [400, 'text'],
      [400, 'text'],
      [400, 'holidays[0].from'],
      [400, 'holidays[0].to'],
    ],
  )
  assert.deepEqual((await admin.call('GET', '')).body.workspace.holidays, before)
})

test('agents see that nobody is available on a holiday', async () => {
  const w = await world({ scopes: ['inbox.read'] })
  const admin = await signedInMember(w, 'admin')
  await admin.call('PATCH', '', { hours: { timeZone: 'UTC', week } })
  const hours = async () => (await w.call('GET', '/api/v2/me')).body.workspace.hours
  assert.equal((await hours()).is_open, true)
  await admin.call('PATCH', '', {
    holidays: [{ name: 'Today', from: '2026-03-10', to: '2026-03-10', calendar: null }],
  })
  const { is_open, next_change_at } = await hours()
  assert.deepEqual([is_open, next_change_at], [false, '2026-03-11T00:00:00.000Z'])
})

test('a team has hours, an away message and goals of its own until it is deleted', async () => {
  const w = await world()
  const [admin, member] = [await signedInMember(w, 'admin'), await signedInMember(w)]
  const { body } = await admin.call('POST', '/teams', { name: 'Night' })
  const service = {
    hours: { timeZone: 'UTC', week },
    holidays: [{ name: 'Feast', from: '2026-05-01', to: '2026-05-01' }],
    awayMessage: { texts: { en: 'Back soon' }, withAgents: true },
    serviceGoals: { firstAnswer: 5, nextAnswer: null, resolution: null, priorities: {} },
  }
  const path = `/teams/${body.team.id}/service`
  assert.equal((await member.call('PUT', path, service)).status, 403)
  assert.equal((await admin.call('PUT', '/teams/01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e/service', service)).status, 404)
  const wrong = { ...service, hours: { timeZone: 'Europe/Atlantis', week } }
  assert.equal((await admin.call('PUT', path, wrong)).status, 400)
  assert.equal((await admin.call('PUT', path, service)).status, 200)
  const list = async () => (await member.call('GET', '/team-services')).body.teams
  assert.deepEqual(await list(), [{ teamId: body.team.id, ...service }])
  assert.equal((await admin.call('DELETE', `/teams/${body.team.id}`)).status, 200)
  assert.deepEqual(await list(), [])
})
