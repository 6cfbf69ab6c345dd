import { chromium } from 'playwright-core'

export interface Watching {
  /** When each message of the storm first stood in the open thread. */
  inThread(): Promise<Map<number, number>>
  /** When the list first showed a message with a number as high as each of these. */
  listReached(): Promise<[number: number, at: number][]>
  problems: string[]
  /** How often the page has read its list and its thread, and how long that took. */
  readings: { list: number[]; thread: number[] }
  close(): Promise<void>
}

/** What the page notes of what it shows. */
interface Noted {
  thread: [number: number, at: number][]
  list: [number: number, at: number][]
}

/** Opens a conversation beside the list of all in a browser, and notes when what is written comes to stand there. */
export async function watchInBrowser(url: string, cookie: string, place: string): Promise<Watching> {
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
  await page.evaluate(noteWhatShows)
  const readings: Watching['readings'] = { list: [], thread: [] }
  page.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url())
    const { requestStart, responseEnd } = request.timing()
    if (pathname.endsWith('/conversations')) readings.list.push(responseEnd - requestStart)
    else if (pathname.endsWith('/timeline')) readings.thread.push(responseEnd - requestStart)
  })
  const noted = () => page.evaluate('globalThis.noted') as Promise<Noted>
  return {
    inThread: async () => new Map((await noted()).thread),
    listReached: async () => (await noted()).list,
    problems,
    readings,
    close: () => browser.close(),
  }
}

// Runs in the page.
const noteWhatShows = `(() => {
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
