import { chromium } from 'playwright-core'

export interface WatchedBrowser {
  /** Time at which each message of the burst first appeared in the open thread. */
  threadTimes(): Promise<Map<number, number>>
  /** Times at which the list first showed a message with at least each of these numbers. */
  listTimes(): Promise<[number: number, at: number][]>
  problems: string[]
  /** Durations of the page's reads of its list and its thread. */
  readDurations: { list: number[]; thread: number[] }
  close(): Promise<void>
}

/** Observations recorded in the page. */
interface Observations {
  thread: [number: number, at: number][]
  list: [number: number, at: number][]
}

/** Opens a conversation next to the list in a browser, and records when messages appear. */
export async function watchInBrowser(url: string, cookie: string, place: string): Promise<WatchedBrowser> {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
  })
  const context = await browser.newContext({ locale: 'en' })
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url }])
  const page = await context.newPage()
  await page.setViewportSize({ width: 1440, height: 900 })
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(`${url}${place}`)
  await page.locator('[data-row]').first().waitFor()
  await page.locator('[role="log"][aria-busy="false"]').waitFor()
  await page.evaluate(observePage)
  const readDurations: WatchedBrowser['readDurations'] = { list: [], thread: [] }
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url())
    const { requestStart, responseEnd } = request.timing()
    if (pathname.endsWith('/conversations')) readDurations.list.push(responseEnd - requestStart)
    else if (pathname.endsWith('/timeline')) readDurations.thread.push(responseEnd - requestStart)
  })
  const readObservations = () => page.evaluate('globalThis.noted') as Promise<Observations>
  return {
    threadTimes: async () => new Map((await readObservations()).thread),
    listTimes: async () => (await readObservations()).list,
    problems,
    readDurations,
    close: () => browser.close(),
  }
}

// Runs in the page.
const observePage = `(() => {
  const noted = (globalThis.noted = { thread: [], list: [] })
  const seen = new Set()
  let highest = -1
  const numbersIn = (text) => Array.from(text.matchAll(/#(\\d+)\\./g), ([, number]) => Number(number))
  new MutationObserver(() => {
    const at = Date.now()
    for (const number of numbersIn(document.querySelector('[role="log"]')?.textContent ?? '')) {
      if (seen.has(number)) continue
      seen.add(number)
      noted.thread.push([number, at])
    }
    for (const row of document.querySelectorAll('[data-row]')) {
      for (const number of numbersIn(row.textContent)) {
        if (number <= highest) continue
        highest = number
        noted.list.push([number, at])
      }
    }
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
})()`
