import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { openDemo } from './support/demo.ts'

// Enough that a list which drew or held all of them at once would show it; more by the environment.
const many = Number(process.env.INBOX_CONVERSATIONS ?? 600)
const perWebhook = 100
const demo = await openDemo()

test(`${many} conversations scroll, and one that was read before is painted from the cache`, async (t) => {
  await fill()
  const { page, problems } = await demo.open('inbox')
  await page.locator('[data-row]').first().waitFor()
  const { rows, frames, slow } = await scrollThrough(page)
  t.diagnostic(`${rows} rows scrolled, ${frames} frames, ${slow} of them over 50 ms`)
  assert.ok((await page.locator('[data-row]').count()) < 60, 'only rows in sight are drawn')
  await page.locator('[data-row]').nth(3).click()
  await page.locator('[role=log] [title]').first().waitFor()
  await page.locator('[data-row]').nth(5).click()
  await page.locator('[role=log] [title]').first().waitFor()
  const paintedMs = await paintOf(page, 3)
  t.diagnostic(`a conversation from the cache is painted ${paintedMs} ms after the click`)
  assert.deepEqual(problems, [])
})

/** As the platform tells of a busy night: many customers in one webhook. */
async function fill(): Promise<void> {
  const nowSeconds = Math.floor(Date.now() / 1000)
  for (let from = 0; from < many; from += perWebhook) {
    const some = Array.from({ length: Math.min(perWebhook, many - from) }, (_, n) => from + n)
    const waId = (n: number) => `5511944${String(100_000 + n)}`
    const value = {
      messaging_product: 'whatsapp',
      contacts: some.map((n) => ({ wa_id: waId(n), profile: { name: `Customer ${n}` } })),
      messages: some.map((n) => ({
        from: waId(n),
        id: `wamid.speed${n}`,
        timestamp: String(nowSeconds - many + n),
        type: 'text',
        text: { body: `Hello, this is customer number ${n}` },
      })),
    }
    const { status } = await demo.call('POST', `${demo.simulatorUrl}/simulator/webhooks`, { field: 'messages', value })
    assert.equal(status, 200)
  }
  const conversations = `/workspaces/${demo.workspaceId}/inbox/counts`
  while ((await demo.team('GET', conversations)).counts.all.open < many) await new Promise(setImmediate)
}

/** Turns the wheel until no more rows come, and counts how long each frame took. */
function scrollThrough(page: Page): Promise<{ rows: number; frames: number; slow: number }> {
  return page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector('[data-row]').closest('ul')
    const scroller = list.parentElement
    let [frames, slow, still, last] = [0, 0, 0, performance.now()]
    const step = () => {
      const now = performance.now()
      frames += 1
      if (now - last > 50) slow += 1
      last = now
      const before = scroller.scrollTop
      scroller.scrollTop += 120
      still = scroller.scrollTop === before ? still + 1 : 0
      if (still < 60) requestAnimationFrame(step)
      else resolve({ rows: Math.round(list.offsetHeight / 64), frames: frames - still, slow })
    }
    requestAnimationFrame(step)
  })`)
}

function paintOf(page: Page, nth: number): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const row = document.querySelectorAll('[data-row]')[${nth}]
    const name = row.textContent.match(/Customer \\d+/)[0]
    const start = performance.now()
    row.click()
    const look = () => {
      const isThere = document.querySelector('section h2')?.textContent === name &&
        document.querySelector('[role=log] [title]') !== null
      if (isThere) resolve(Math.round(performance.now() - start))
      else requestAnimationFrame(look)
    }
    look()
  })`)
}
