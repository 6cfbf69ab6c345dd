import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FullWorkspace, fullWorkspace } from '../support/faults/full-workspace.ts'
import { ask, describeRequest, type FuzzRequest, type FuzzResponse, requestOf } from '../support/faults/fuzz.ts'
import { digestTables } from '../support/faults/table-digests.ts'
import { oneOf, randomFrom } from '../support/faults/values.ts'

const rounds = Number(process.env.TENANT_ROUNDS ?? 1)
const seed = Number(process.env.TENANT_SEED ?? 20_260_310)

test('no operation reveals or changes data of another workspace, with any of its ids in path, query and body', async (t) => {
  const random = randomFrom(seed)
  const found: string[] = []
  let requests = 0
  for (let round = 0; round < rounds; round++) {
    const [ours, theirs] = [await fullWorkspace(), await fullWorkspace()]
    const secrets = secretsOf(theirs)
    const before = await digestTables(theirs.db, theirs.workspaceId)
    for (const op of theirs.operations) {
      const { key, owner, member } = ours.callers
      const isTeam = op.path.startsWith('/api/team')
      if (!isTeam && !op.path.startsWith('/api/')) continue
      for (const inOurs of isTeam ? [false, true] : [false]) {
        const caller = isTeam ? oneOf(random, [owner, owner, member]) : key
        const request = requestOf(theirs, op, 'fitting', random, 'neutral')
        if (inOurs) request.url = request.url.replace(theirs.workspaceId, ours.workspaceId)
        const response = await ask(ours, request, caller)
        requests++
        const namesTheirs = op.path.replace(inOurs ? '{workspaceId}' : '', '').includes('{')
        const faults = violationsOf(request, response, secrets, namesTheirs)
        found.push(
          ...faults.map(
            (fault) => `${fault}\n  ${describeRequest(request, caller)}\n  ${response?.text.slice(0, 500)}`,
          ),
        )
        await ours.restoreAccess(op)
      }
    }
    const after = await digestTables(theirs.db, theirs.workspaceId)
    found.push(
      ...Object.keys(before).flatMap((table) => (before[table] === after[table] ? [] : [`${table} has changed`])),
    )
    assert.ok(Object.values(before).filter((digest) => digest !== 'empty').length > 30, 'many tables have rows')
  }
  t.diagnostic(`${requests} requests`)
  assert.deepEqual(found, [])
})

/** Returns what must not leak: the secret word and every known id. */
function secretsOf({ person, ids, workspaceId, keyId, connectionId, sessionId }: FullWorkspace): string[] {
  const listed = [...ids.values()].flat().map(({ id }) => id)
  const own = [workspaceId, keyId, connectionId, sessionId, ...listed].filter((id) => id.length >= 20)
  return [...new Set([person.word, person.phone, person.variant, person.email, person.userId, ...own])]
}

function violationsOf(
  request: FuzzRequest,
  response: FuzzResponse | null,
  secrets: readonly string[],
  namesTheirs: boolean,
): string[] {
  if (response === null) return ['no answer']
  const said = `${request.url} ${request.payload ?? ''} ${JSON.stringify(request.headers)}`
  const leaked = secrets.filter((secret) => response.text.includes(secret) && !said.includes(secret))
  const faults = leaked.map((secret) => `tells ${secret}`)
  if (namesTheirs && response.status < 400) faults.push(`${response.status} for what is another's`)
  if (response.status >= 500) faults.push(`${response.status}`)
  return faults
}
