export interface Page<Item> {
  items: Item[]
  /** Where the next page begins; null at the end. */
  cursor: string | null
  /** How many there are on all pages, where the service counts them. */
  total?: number
}

/** Reads the page that begins at a cursor; the first one without. */
export type ReadPage<Item> = (cursor: string | undefined) => Promise<Page<Item>>

/** Pages are asked for as they are needed: `for await (const lead of parley.leads.list())`. */
export class Listing<Item> implements AsyncIterable<Item> {
  readonly #read: ReadPage<Item>

  constructor(read: ReadPage<Item>) {
    this.#read = read
  }

  /** One page: the first one, or the one that a page before has named. */
  page(cursor?: string): Promise<Page<Item>> {
    return this.#read(cursor)
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined
    do {
      const page = await this.#read(cursor)
      yield page
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const { items } of this.pages()) yield* items
  }

  /** All of them, but no more than this. */
  async take(atMost: number): Promise<Item[]> {
    const taken: Item[] = []
    for await (const { items } of this.pages()) {
      taken.push(...items.slice(0, atMost - taken.length))
      if (taken.length >= atMost) break
    }
    return taken
  }
}
