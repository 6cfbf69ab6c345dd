import type { Locator, Page } from 'playwright-core'

type Named = { name: string | RegExp; exact?: boolean }

/** Chooses an option of a combobox. */
export async function pickOption(box: Locator, option: Named): Promise<void> {
  await box.click()
  await box.page().getByRole('option', option).click()
}

/** Chooses an item of the menu that a button opens. */
export async function pickItem(button: Locator, item: Named): Promise<void> {
  await button.click()
  await button.page().getByRole('menuitem', item).click()
}

/** Types the word that a dialog requires for confirmation. */
export async function confirmByTyping(page: Page, dialog: string, word: string): Promise<void> {
  const ask = page.getByRole('dialog', { name: dialog })
  await ask.getByLabel(/^Type/).fill(word)
  await page.keyboard.press('Enter')
  await ask.waitFor({ state: 'detached' })
}
