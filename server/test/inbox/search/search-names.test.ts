import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillConversations } from '../../../../bench/fill.ts'
import { addAgent, type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { makeInboxTokens } from '../../support/tokens.ts'

const path = '/inbox/conversations'

async function found(member: TestMember, search: string, more = ''): Promise<string[]> {
  const { status, body } = await member.call('GET', `${path}?search=${encodeURIComponent(search)}${more}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.conversations.map(({ id }: { id: string }) => id)
}

async function writes(w: InboxWorld, name: string | null, phone: string): Promise<string> {
  w.clock.advance(1000)
  return (await w.customerWrites('Hi', { customer: { ...marina, name, phone }, at: w.clock.now() })).id
}

/** Inserts enough newer conversations that the searched ones are not among the first rows of the list. */
async function amongMany(w: InboxWorld): Promise<void> {
  const filling = {
    ...w,
    keyring: await w.keyStore.keyring(w.workspaceId),
    now: new Date(w.clock.now().getTime() + 86_400_000),
  }
  await fillConversations(filling, { connectionId: w.connectionId, keyId: (await addAgent(w)).id, count: 600 })
}

const bothWays = async (w: InboxWorld, check: (which: string) => Promise<void>): Promise<void> => {
  await check('without tokens')
  await makeInboxTokens(w)
  await check('with tokens')
  await amongMany(w)
  await check('with tokens, among many')
}

test('a customer is found by any part of the displayed name, and by any three digits of the number', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const lucia = await writes(w, 'Lucía Fernández Ortiz', '34955501101')
  const nobody = await writes(w, null, '34600111222')
  const bo = await writes(w, 'Bo Li', '46700000001')
  const wang = await writes(w, '王伟', '8613800138000')
  await bothWays(w, async (which) => {
    for (const text of [
      'Lucía',
      'lucia',
      'Fernández',
      'ernan',
      'ortiz luc',
      '955501101',
      '501101',
      '55 50',
      '+34 955 501 101',
    ]) {
      assert.deepEqual(await found(member, text), [lucia], `${text} ${which}`)
    }
    assert.deepEqual(await found(member, 'lucia 34955501101'), [lucia], which)
    assert.deepEqual(await found(member, '0111222'), [nobody], which)
    assert.deepEqual(await found(member, 'li'), [bo], which)
    assert.deepEqual(await found(member, '伟'), [wang], which)
    assert.deepEqual(await found(member, '王伟'), [wang], which)
    for (const text of ['Lucas', 'luciafernandez', 'fernandez bo', '955501102', '...']) {
      assert.deepEqual(await found(member, text), [], `${text} ${which}`)
    }
  })
})

for (const sort of ['recent', 'updated', 'waiting']) {
  test(`hits are sorted like the list by ${sort}, page by page, each once`, async () => {
    const w = await inboxWorld()
    const member = await signedInMember(w)
    const ids: string[] = []
    for (let n = 0; n < 7; n++) ids.push(await writes(w, `Ana Prado ${n}`, `3460011122${n}`))
    await writes(w, 'Rui Prata', '34600111299')
    const inOrder = sort === 'waiting' ? ids : ids.toReversed()
    await bothWays(w, async (which) => {
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await member.call('GET', `${path}?search=prado&sort=${sort}&limit=3${cursor}`)
        seen.push(...body.conversations.map(({ id }: { id: string }) => id))
        if (body.cursor === null) break
        cursor = `&cursor=${body.cursor}`
        assert.equal((await member.call('GET', `${path}?search=other&sort=${sort}${cursor}`)).status, 400)
      }
      assert.deepEqual(seen, inOrder, which)
    })
  })
}

test('a lead that appears between two pages and matches the search does not break paging', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  for (let n = 0; n < 3; n++) await writes(w, `Ana Prado ${n}`, `3460011122${n}`)
  const { body } = await member.call('GET', `${path}?search=prado&limit=2`)
  const { value: key } = await w.addKey({ scopes: ['leads.write'] })
  const lead = { firstName: 'Rui', lastName: 'Prado', phone: '351912345678' }
  assert.equal((await w.call('POST', '/api/v1/leads', { body: lead, key })).status, 201)
  const next = await member.call('GET', `${path}?search=prado&limit=2&cursor=${body.cursor}`)
  assert.deepEqual([next.status, next.body.conversations?.length], [200, 1])
})

test('a search combines with the other filters of the list', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const [one, two] = [await writes(w, 'Ana Prado', '34600111221'), await writes(w, 'Ana Prata', '34600111222')]
  await member.call('PATCH', `${path}/${one}`, { status: 'resolved' })
  await bothWays(w, async (which) => {
    assert.deepEqual(await found(member, 'ana pra', '&status=open'), [two], which)
    assert.deepEqual(await found(member, 'ana pra', '&status=resolved'), [one], which)
  })
})

test('a renamed customer is found by the new name only', async () => {
  const w = await inboxWorld()
  const member = await signedInMember(w)
  const id = await writes(w, 'Marina', '5581991234567')
  await makeInboxTokens(w)
  await writes(w, 'Mariana', '5581991234567')
  await bothWays(w, async (which) => {
    assert.deepEqual(await found(member, 'mariana'), [id], which)
    assert.deepEqual(await found(member, 'marina'), [], which)
  })
})

test('customers of another workspace are never found', async () => {
  const [ours, theirs] = [await inboxWorld(), await inboxWorld()]
  const member = await signedInMember(ours)
  await writes(theirs, 'Lucía Fernández', '34955501101')
  const own = await writes(ours, 'Lucía Gómez', '34955501102')
  await bothWays(ours, async (which) => {
    for (const text of ['lucia', '9555011', '34955501101']) {
      assert.deepEqual(await found(member, text), text === '34955501101' ? [] : [own], `${text} ${which}`)
    }
  })
})
