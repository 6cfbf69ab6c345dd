import { readFile, stat } from 'node:fs/promises'
import type { Command } from 'commander'
import { withWorkspace } from './team-call.ts'
import { printResult, table } from './terminal.ts'

interface RateCardOptions {
  workspace?: string
  validFrom?: string
  json?: boolean
}

interface RateCard {
  id: string
  currency: string
  validFrom: string
  rates: number
}

/** More than the service accepts, which then says how much. */
const maxFileBytes = 4 * 1024 * 1024

/** `parley rate-card …` */
export function addRateCardCommands(program: Command): void {
  const rateCard = program.command('rate-card').description("import and list the prices of the platform's messages")
  rateCard
    .command('import <file>')
    .description('import the rate cards of a CSV file; a card of the same currency and day is replaced')
    .option('--valid-from <day>', 'the day from which a file of the platform is valid, such as 2026-10-01')
    .option('-w, --workspace <id or name>', 'required if there are several')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      "\nTakes the platform's files as they are: first the prices, then the volume tiers. Or columns of your own: currency, market, category, price, valid_from, and optionally from_message.\n\nExample:\n  parley rate-card import rates-usd.csv --valid-from 2026-10-01\n",
    )
    .action(importRateCards)
  rateCard
    .command('list')
    .description('list the imported rate cards')
    .option('-w, --workspace <id or name>', 'required if there are several')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  parley rate-card list\n')
    .action(listRateCards)
}

async function importRateCards(path: string, { workspace, json, validFrom }: RateCardOptions): Promise<void> {
  if ((await stat(path)).size > maxFileBytes) throw new Error('The file is larger than any rate card: 4 MiB')
  const csv = await readFile(path, 'utf8')
  const imported = await withWorkspace(workspace, (call, place) =>
    call<{ rateCards: RateCard[] }>('POST', `${place}/rate-cards`, {
      csv,
      ...(validFrom !== undefined && { validFrom }),
    }),
  )
  printResult(json, imported, ['Imported:', ...lines(imported.rateCards)])
}

async function listRateCards({ workspace, json }: RateCardOptions): Promise<void> {
  const found = await withWorkspace(workspace, (call, place) =>
    call<{ rateCards: RateCard[] }>('GET', `${place}/rate-cards`),
  )
  const next = 'There are no rate cards yet. Import one with: parley rate-card import <file>'
  printResult(json, found, found.rateCards.length === 0 ? [next] : lines(found.rateCards))
}

const lines = (cards: readonly RateCard[]): string[] =>
  table([
    ['id', 'currency', 'valid from', 'prices'],
    ...cards.map(({ id, currency, validFrom, rates }) => [id, currency, validFrom, String(rates)]),
  ])
