import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'

/** Chooses a file for the import. */
export async function choose(page: Page, name: string, text: string): Promise<void> {
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose file' }).click()
  await (await choosing).setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
}

/** Returns the text of a download. */
export async function downloaded(page: Page, trigger: () => Promise<void>): Promise<string> {
  const downloading = page.waitForEvent('download')
  await trigger()
  return readFile(await (await downloading).path(), 'utf8')
}

/** Returns the counts of an import or dry run in one line. */
export const counts = async (page: Page): Promise<string> =>
  (await page.locator('dl').first().innerText()).split('\n').join(' ')

/** Returns the lines of a downloaded table. */
export const downloadedLines = async (page: Page, trigger: () => Promise<void>): Promise<string[]> =>
  (await downloaded(page, trigger)).replace('\uFEFF', '').trimEnd().split('\r\n')
