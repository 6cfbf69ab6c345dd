import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { takeScreenshot } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const contrastRules = ['color-contrast', 'link-in-text-block']

/** What opens over a page. */
export const overlays = '[role=dialog], [role=menu], [role=listbox]'

const rulesWithoutContrast = { rules: Object.fromEntries(contrastRules.map((rule) => [rule, { enabled: false }])) }
/** In the dark only the colours differ from the light, and on a phone all but them: each is held to what it differs by. */
const rulesOf = { light: {}, dark: { runOnly: contrastRules }, phone: rulesWithoutContrast }

/** Fails if axe knows a fault of the page, light and dark, or on a phone if it is as narrow: all of them are serious. */
export async function assertAccessible(page: Page): Promise<void> {
  const isPhone = (page.viewportSize()?.width ?? 0) < 600
  assert.deepEqual(isPhone ? await issuesIn(page, 'phone') : await issuesInSchemes(page), [])
}

export const issuesInSchemes = async (page: Page): Promise<string[]> => [
  ...(await issuesIn(page, 'light')),
  ...(await issuesIn(page, 'dark')),
]

/** Returns what axe finds in the page, or in what of it `within` selects. The page is not loaded again to be dark. */
export async function issuesIn(page: Page, variant: 'light' | 'dark' | 'phone', within?: string): Promise<string[]> {
  // Rows that are about to be others are dimmed meanwhile, for less than anybody could read them in.
  await page.locator('[data-old], [data-stale]').first().waitFor({ state: 'detached' })
  if (variant === 'dark') await follow(page, 'dark')
  await waitForDialogNames(page)
  await takeScreenshot(page)
  const found = await find(page, rulesOf[variant], within)
  if (variant === 'dark') await follow(page, 'light')
  return found.map((issue) => `${variant}: ${issue}`)
}

/** A dialog gets its name from its title one render later. axe reports one that still has none. */
async function waitForDialogNames(page: Page): Promise<void> {
  const named = `[...document.querySelectorAll('[role=dialog]')].every((dialog) =>
    dialog.hasAttribute('aria-label') || document.getElementById(dialog.getAttribute('aria-labelledby') ?? ''))`
  await page.waitForFunction(named, undefined, { timeout: 2_000 }).catch(() => {})
}

/** Resolves once the app has followed; a page that is none of the app follows by its style alone. */
async function follow(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme })
  const root = `html[data-mantine-color-scheme=${colorScheme}], html:not([data-mantine-color-scheme])`
  await page.locator(root).waitFor({ state: 'attached' })
}

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

async function find(page: Page, rules: object, within: string | undefined): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  const options = { resultTypes: ['violations'], iframes: false, ...rules }
  const violations = await page.evaluate(runAxe, { options, within })
  const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => ({ id, ...node })))
  // What drops from a button is reached by that button, and belongs to no landmark.
  const isDropped = (await page.locator('[data-portal] :is([role=menu], [role=dialog], [role=listbox])').count()) > 0
  return found
    .filter(({ id }) => !(isDropped && id === 'region'))
    .map(({ id, html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`)
}

/** Runs in the page. */
async function runAxe({ options, within }: { options: object; within: string | undefined }): Promise<Violation[]> {
  // biome-ignore lint/suspicious/noExplicitAny: the library has just been put there, and these tests are typed for a server
  const { axe, document } = globalThis as any
  const shown = [...document.querySelectorAll(within ?? 'html')].filter((one) => one.checkVisibility())
  return (await axe.run({ include: shown }, options)).violations
}
