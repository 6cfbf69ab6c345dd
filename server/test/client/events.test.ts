import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CursorExpiredError } from '../../../client/src/errors.ts'
import type { CursorStore } from '../../../client/src/events.ts'
import { clientWorld, network, refusal } from '../support/client/client-world.ts'

function memory(): CursorStore & { saved: string[] } {
  const saved: string[] = []
  return { saved, load: async () => saved.at(-1), save: async (cursor) => void saved.push(cursor) }
}

const nameOf = (number: number): string => `Lead ${number}`

test('a stopped follower resumes from its store without loss', async () => {
  const { parley } = await clientWorld()
  const lead = (firstName: string) => parley.leads.create({ firstName })
  for (let i = 0; i < 3; i++) await lead(nameOf(i))
  const store = memory()
  const seen: string[] = []
  // Stops while it processes the first page, so that the page is returned again.
  for await (const event of parley.events.follow({ store, events: ['lead.created'] })) {
    if (event.event === 'lead.created') seen.push(event.payload.firstName)
    break
  }
  assert.deepEqual(store.saved, [])
  const stopping = new AbortController()
  const following = async () => {
    for await (const { events } of parley.events.pages({ store, events: ['lead.*'], signal: stopping.signal })) {
      for (const event of events) if (event.event === 'lead.created') seen.push(event.payload.firstName)
      if (seen.includes(nameOf(2)) && !seen.includes(nameOf(3))) await lead(nameOf(3))
      else if (seen.includes(nameOf(3))) return
    }
  }
  await following()
  assert.deepEqual(seen, [0, 0, 1, 2, 3].map(nameOf))
  const again: string[] = []
  for await (const event of parley.events.follow({ store, events: ['lead.created'] })) {
    if (event.event === 'lead.created') again.push(event.payload.firstName)
    break
  }
  assert.deepEqual(again, [nameOf(3)], 'the page that was being dealt with comes again, and nothing before it')
})

test('a follower survives outages', async () => {
  const { open, parley: writer } = await clientWorld()
  await writer.leads.create({ firstName: 'Ana' })
  const { fetch, asked } = network(
    'isLost',
    refusal(503),
    'answerIsLost',
    'isLost',
    'isLost',
    refusal(429, {}, { 'retry-after': '3600' }),
    'reaches',
  )
  const { parley, pauses } = open({ fetch })
  for await (const event of parley.events.follow({ events: ['lead.created'] })) {
    assert.equal(event.event, 'lead.created')
    break
  }
  assert.deepEqual([asked.length, pauses.length], [7, 6])
})

test('an expired cursor has an error class', async () => {
  const { open } = await clientWorld()
  const { fetch } = network(refusal(410, { code: 'CURSOR_EXPIRED' }))
  await assert.rejects(open({ fetch }).parley.events.follow({ after: 'old' }).next(), CursorExpiredError)
})
