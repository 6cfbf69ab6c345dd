import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Asked, ask, described, requestOf, type Told } from '../support/faults/fuzz.ts'
import { pictureOf } from '../support/faults/picture.ts'
import { type Furnished, furnished } from '../support/faults/scene.ts'
import { oneOf, randomFrom } from '../support/faults/values.ts'

const rounds = Number(process.env.TENANT_ROUNDS ?? 1)
const seed = Number(process.env.TENANT_SEED ?? 20_260_310)

test('no operation reveals or changes data of another workspace, with any of its ids in path, query and body', async (t) => {
  const random = randomFrom(seed)
  const found: string[] = []
  let requests = 0
  for (let round = 0; round < rounds; round++) {
    const [ours, theirs] = [await furnished(), await furnished()]
    const secrets = secretsOf(theirs)
    const before = await pictureOf(theirs.db, theirs.workspaceId)
    for (const op of theirs.operations) {
      const { key, owner, member } = ours.callers
      const isTeam = op.path.startsWith('/api/team')
      if (!isTeam && !op.path.startsWith('/api/')) continue
      for (const inOurs of isTeam ? [false, true] : [false]) {
        const caller = isTeam ? oneOf(random, [owner, owner, member]) : key
        const asked = requestOf(theirs, op, 'fitting', random, 'neutral')
        if (inOurs) asked.url = asked.url.replace(theirs.workspaceId, ours.workspaceId)
        const told = await ask(ours, asked, caller)
        requests++
        const namesTheirs = op.path.replace(inOurs ? '{workspaceId}' : '', '').includes('{')
        const faults = faultsOf(asked, told, secrets, namesTheirs)
        found.push(...faults.map((fault) => `${fault}\n  ${described(asked, caller)}\n  ${told?.text.slice(0, 500)}`))
        await ours.letIn(op)
      }
    }
    const after = await pictureOf(theirs.db, theirs.workspaceId)
    found.push(
      ...Object.keys(before).flatMap((table) => (before[table] === after[table] ? [] : [`${table} has changed`])),
    )
    assert.ok(Object.values(before).filter((digest) => digest !== 'empty').length > 30, 'many tables have rows')
  }
  t.diagnostic(`${requests} requests`)
  assert.deepEqual(found, [])
})

/** Returns what must not leak: the secret word and every known id. */
function secretsOf({ person, ids, workspaceId, keyId, connectionId, sessionId }: Furnished): string[] {
  const listed = [...ids.values()].flat().map(({ id }) => id)
  const own = [workspaceId, keyId, connectionId, sessionId, ...listed].filter((id) => id.length >= 20)
  return [...new Set([person.word, person.phone, person.variant, person.email, person.userId, ...own])]
}

function faultsOf(asked: Asked, told: Told | null, secrets: readonly string[], namesTheirs: boolean): string[] {
  if (told === null) return ['no answer']
  const said = `${asked.url} ${asked.payload ?? ''} ${JSON.stringify(asked.headers)}`
  const leaked = secrets.filter((secret) => told.text.includes(secret) && !said.includes(secret))
  const faults = leaked.map((secret) => `tells ${secret}`)
  if (namesTheirs && told.status < 400) faults.push(`${told.status} for what is another's`)
  if (told.status >= 500) faults.push(`${told.status}`)
  return faults
}
