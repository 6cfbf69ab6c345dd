import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type Page } from 'playwright-core'
import { callbackOf, signedCallback, webhookPath } from '../../callbacks.ts'
import type { Child } from '../../child.ts'
import { median, spreadCell } from '../../figures.ts'
import { customerPhone } from '../../inbox-seed.ts'
import { openExchange, requestBytes } from '../../load.ts'
import type { BurstWorkspace } from '../burst/seed-burst.ts'
import { picturesOf } from './picture-burst.ts'

/** Milliseconds from the sending of a callback, per picture. */
export interface VisibleTimes {
  /** Until the page is notified of the picture. */
  heard: number[]
  /** Until it is visible in the thread. */
  shown: number[]
  /** Until the page has all of its bytes. */
  loaded: number[]
  /** Until a page of the baseline shows it. */
  baseline: number[]
}

export interface VisibleCourse {
  place: BurstWorkspace
  port: number
  baseline: Child
}

const pictures = 10
const giveUpAfterMs = 30_000

/** Sends large pictures, one after the other, to a conversation that is open in a browser. */
export async function watchPictures({ place, port, baseline }: VisibleCourse): Promise<VisibleTimes> {
  const { workspaceId, burstNumber, watched, cookies } = place
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  })
  try {
    const url = `http://127.0.0.1:${port}`
    const context = await browser.newContext({ locale: 'en' })
    const [name = '', value = ''] = (cookies[0] ?? '').split('=')
    await context.addCookies([{ name, value, url }])
    const page = await context.newPage()
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(`${url}/w/${workspaceId}/inbox/${watched.conversationId}`)
    await page.locator('[role="log"][aria-busy="false"]').waitFor()
    await page.evaluate(observeEvents(workspaceId))
    const baselinePage = await context.newPage()
    await baselinePage.goto(`http://127.0.0.1:${baseline.port}/`)
    await baselinePage.evaluate(observePage)
    // The page must be in front: browsers draw hidden ones late.
    const visible: VisibleTimes = { heard: [], shown: [], loaded: [], baseline: [] }
    for (let n = 0; n < pictures; n++) {
      const from = customerPhone(watched.customer)
      const told = picturesOf([{ from, id: `wamid.LARGE${crypto.randomUUID()}`, picture: `large-${n}` }])
      await baselinePage.bringToFront()
      const bare = requestBytes('POST', '/webhook', {}, callbackOf(burstNumber, told))
      visible.baseline.push((await one(baselinePage, baseline.port, bare, ['shown'])).shown)
      await page.bringToFront()
      const callback = signedCallback(webhookPath(burstNumber), callbackOf(burstNumber, told))
      const seen = await one(page, port, callback, ['heard', 'shown', 'loaded'])
      visible.heard.push(seen.heard)
      visible.shown.push(seen.shown)
      visible.loaded.push(seen.loaded)
    }
    return visible
  } finally {
    await browser.close()
  }
}

interface PictureTimes {
  heard: number
  shown: number
  loaded: number
}

async function one(page: Page, port: number, callback: Buffer, awaited: (keyof PictureTimes)[]): Promise<PictureTimes> {
  await page.evaluate('globalThis.noted = { heard: 0, shown: 0, loaded: 0 }')
  const exchange = openExchange(port)
  const sentAt = Date.now()
  const status = await exchange.send(callback)
  if (status !== 200) throw new Error(`A callback was answered with ${status}`)
  exchange.close()
  for (const end = sentAt + giveUpAfterMs; Date.now() < end; await sleep(20)) {
    const noted = (await page.evaluate('globalThis.noted')) as PictureTimes
    if (awaited.some((what) => noted[what] === 0)) continue
    return { heard: noted.heard - sentAt, shown: noted.shown - sentAt, loaded: noted.loaded - sentAt }
  }
  throw new Error('The picture is not visible')
}

// Both run in a page: a loaded picture is decoded in the frame after the next.
const observePage = `document.addEventListener('load', ({ target }) => {
  const { noted } = globalThis
  if (!(target instanceof HTMLImageElement) || target.src.startsWith('data:') || noted === undefined) return
  requestAnimationFrame(() => requestAnimationFrame(() => {
    noted.shown ||= Date.now()
  }))
}, true)`

const observeEvents = (workspaceId: string) => `(() => {
  ${observePage}
  const workspace = '/api/team/v1/workspaces/${workspaceId}'
  new EventSource(workspace + '/live').addEventListener('team.media.changed', async ({ data }) => {
    const { noted } = globalThis
    const { mediaId, state } = JSON.parse(data)
    if (state !== 'here') return
    noted.heard = Date.now()
    const answer = await fetch(workspace + '/inbox/media/' + mediaId)
    if (!answer.ok) return
    await answer.arrayBuffer()
    noted.loaded = Date.now()
  })
})()`

export function printVisible(visible: readonly VisibleTimes[]): void {
  const all = (read: (one: VisibleTimes) => number[]) => visible.flatMap(read)
  const ratios = visible.map(({ shown, baseline }) => median(shown) / median(baseline))
  const cell = (ms: readonly number[]) => `${median(ms).toFixed(0)} (${Math.min(...ms)}–${Math.max(...ms)})`
  console.log('\n| a picture of 5 MB, from its callback, ms | |\n|---|---|')
  console.log(`| until an open page is notified | ${cell(all(({ heard }) => heard))} |`)
  console.log(`| until it is visible in its thread | ${cell(all(({ shown }) => shown))} |`)
  console.log(`| until all of its bytes are loaded | ${cell(all(({ loaded }) => loaded))} |`)
  console.log(`| until a page shows it, baseline | ${cell(all(({ baseline }) => baseline))} |`)
  console.log(`| ratio | ${spreadCell(ratios)} |`)
}
