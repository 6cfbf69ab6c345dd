import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customerMessage, inboxWorld } from '../../support/inbox/inbox-world.ts'

const hidden = { userId: 'BR.1', parentUserId: null, phone: null, name: 'Ana' }
const byPhone = { userId: null, parentUserId: null, phone: '5511987650001', name: 'Ana' }
const shown = { ...hidden, phone: byPhone.phone }

const orders: [what: string, first: typeof hidden | typeof byPhone, second: typeof hidden | typeof byPhone][] = [
  ['the hidden one is the older', hidden, byPhone],
  ['the hidden one is the younger', byPhone, hidden],
]

for (const [what, first, second] of orders) {
  test(`a change that names two conversations of one customer loses neither: ${what}`, async () => {
    const w = await inboxWorld()
    for (const customer of [first, second]) {
      w.clock.advance(1_000)
      await w.tell(customerMessage({ at: w.clock.now(), customer }))
    }
    assert.equal((await w.conversations()).length, 2)
    w.clock.advance(1_000)
    await w.tell({ type: 'customer_changed', previous: hidden, customer: shown, at: w.clock.now() })
    const all = await w.conversations()
    assert.deepEqual(
      all.map(({ contact, unread_count }) => [contact.phone, unread_count]),
      [[byPhone.phone, 2]],
    )
    assert.equal((await w.messages(all[0].id)).length, 2)
  })
}
