import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'

/** Reported names in order of arrival, each with its time in minutes after noon. */
type Told = [name: string | null, minute: number, how?: 'call' | 'book']

const rows: [what: string, told: Told[], name: string | null][] = [
  [
    'the newest',
    [
      ['A', 1],
      ['B', 2],
    ],
    'B',
  ],
  [
    'a late one does not win',
    [
      ['A', 2],
      ['B', 1],
    ],
    'A',
  ],
  [
    'a late one after many',
    [
      ['A', 1],
      ['A', 5],
      ['B', 3],
    ],
    'A',
  ],
  [
    'a late one fills a missing name',
    [
      [null, 2],
      ['B', 1],
    ],
    'B',
  ],
  [
    'one between a name and a newer message without a name',
    [
      ['A', 1],
      [null, 5],
      ['B', 3],
    ],
    'B',
  ],
  [
    'one before both',
    [
      ['B', 2],
      [null, 5],
      ['A', 1],
    ],
    'B',
  ],
  [
    'two late ones in the wrong order',
    [
      [null, 9],
      ['B', 5],
      ['A', 3],
    ],
    'B',
  ],
  [
    'the newest after late ones',
    [
      [null, 5],
      ['A', 3],
      ['B', 9],
    ],
    'B',
  ],
  [
    'a call also sets the name',
    [
      ['X', 0],
      ['A', 2, 'call'],
      ['B', 1],
    ],
    'A',
  ],
  [
    'the contact book fills a missing name',
    [
      [null, 1],
      ['Book', 5, 'book'],
    ],
    'Book',
  ],
  [
    'the customer always wins over the contact book',
    [
      [null, 9],
      ['Book', 0, 'book'],
      ['A', 3],
    ],
    'A',
  ],
  [
    'the contact book never wins',
    [
      ['A', 1],
      ['Book', 5, 'book'],
    ],
    'A',
  ],
  [
    'a name from the future counts as now',
    [
      ['A', 60 * 24 * 365],
      ['B', 31],
    ],
    'B',
  ],
]

test("the name is the customer's latest by platform time", async () => {
  for (const [what, told, name] of rows) {
    const w = await inboxWorld()
    const noon = w.clock.now().getTime()
    w.clock.advance(30 * 60_000)
    for (const [called, minute, how] of told) {
      if (minute > 30) w.clock.advance(60_000)
      await w.deliver(event(called, new Date(noon + minute * 60_000), how))
    }
    const [conversation] = await w.conversations()
    assert.equal(conversation.contact.name, name, what)
  }
})

function event(name: string | null, at: Date, how?: 'call' | 'book'): ChannelEvent {
  const customer = { ...marina, name }
  if (how === 'book') return { type: 'contact_named', customer }
  if (how === 'call') return { type: 'contact_opened', customer, at }
  return customerMessage({ at, customer })
}

test("a late message does not change the customer's current address", async () => {
  const w = await inboxWorld()
  const at = (minutes: number) => new Date(w.clock.now().getTime() - minutes * 60_000)
  const spelled = (phone: string) => ({ ...marina, userId: 'BR.1', phone })
  await w.deliver(customerMessage({ at: at(1), customer: spelled('5581991234567') }))
  await w.deliver(customerMessage({ at: at(60), customer: spelled('558191234567') }))
  assert.equal((await w.conversations())[0].contact.phone, '5581991234567')
})

test('a merged conversation keeps the newer name', async () => {
  const w = await inboxWorld()
  const at = (minutes: number) => new Date(w.clock.now().getTime() - minutes * 60_000)
  await w.deliver(customerMessage({ at: at(60), customer: { ...marina, name: 'Former' } }))
  await w.deliver(customerMessage({ at: at(5), customer: { ...marina, phone: null, userId: 'BR.1', name: 'Newer' } }))
  await w.deliver(customerMessage({ at: at(90), customer: { ...marina, userId: 'BR.1', name: 'Oldest' } }))
  const [{ contact }, ...others] = await w.conversations()
  assert.deepEqual([contact.name, others.length], ['Newer', 0])
})

test('a repeat does not update its customer, whatever comes with it', async () => {
  const w = await inboxWorld()
  const [customer, at] = [{ ...marina, userId: 'BR.1' }, w.clock.now()]
  const first = customerMessage({ at, customer })
  await w.deliver(first)
  // An edit is not applied by the batch.
  await w.deliver(
    { ...first, customer: { ...marina, userId: 'BR.2' } },
    { type: 'edited', originalId: 'wamid.late', customer, direction: 'inbound', text: 'Edited', at },
  )
  assert.equal((await w.conversations({ phone: marina.phone ?? '' })).length, 1)
})
