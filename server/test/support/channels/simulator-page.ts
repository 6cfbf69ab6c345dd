import assert from 'node:assert/strict'
import { type Browser, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../../../scripts/chromium.ts'
import { atEnd, oncePerFile } from '../file-end.ts'

const browser = oncePerFile(async (): Promise<Browser> => {
  const opened = await chromium.launch({
    executablePath: findChromium() ?? assert.fail('there is no Chromium'),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
    ],
  })
  atEnd(() => opened.close())
  return opened
})

export const desktop = { width: 1280, height: 800 }
export const handheld = { width: 375, height: 667 }

/** Opens a page of a simulator; `problems` are what it complains of, `requests` the addresses that it asked. */
export async function openPage(
  url: string,
  viewport = desktop,
): Promise<{ page: Page; problems: string[]; requests: string[] }> {
  const page = await (await browser()).newPage({ viewport })
  const problems: string[] = []
  const requests: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(url)
  return { page, problems, requests }
}

/** Everything that is shown can be met with a thumb, and nothing is wider than the phone. */
export async function assertFitsThumbs(page: Page): Promise<void> {
  // As text, since these tests are typed for a server.
  const tooSmall = `
    const shown = [...document.querySelectorAll('button, textarea, select')].filter((one) => one.checkVisibility())
    const small = shown.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML)
    document.documentElement.scrollWidth > ${handheld.width} ? [...small, 'page'] : small`
  assert.deepEqual(await page.evaluate(tooSmall), [])
}
