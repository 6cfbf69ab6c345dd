import { randomInt, randomUUID } from 'node:crypto'
import { runInNewContext } from 'node:vm'
import type { App } from '../../../src/base/route.ts'
import type { PostmanCollection, PostmanItem } from '../../../src/http/contract/postman.ts'

export interface PostmanRun {
  name: string
  method: string
  statusCode: number
  body: string
}

/** Sends a collection's requests from top to bottom as Postman would, test scripts included. */
export async function runCollection(
  app: App,
  collection: PostmanCollection,
  given: Record<string, string>,
): Promise<PostmanRun[]> {
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]))
  for (const [key, value] of Object.entries({ ...given, base_url: '' })) variables.set(key, value)
  const fill = (text: string) =>
    text.replaceAll(/\{\{([$\w]+)\}\}/g, (_match, name: string) => dynamic(name) ?? variables.get(name) ?? '')

  const runs: PostmanRun[] = []
  for (const item of collection.item.flatMap((folder) => folder.item)) {
    const answer = await app.inject(requestOf(item, collection, fill))
    runs.push({
      name: item.name,
      method: item.request.method,
      statusCode: answer.statusCode,
      body: answer.body,
    })
    const response = { json: () => answer.json(), to: { be: { success: true } } }
    const collectionVariables = { set: (key: string, value: unknown) => variables.set(key, String(value)) }
    if (answer.statusCode >= 300) continue
    const known = { get: (key: string) => variables.get(key) }
    const pm = { response, collectionVariables, variables: known, test: (_name: string, work: () => void) => work() }
    for (const event of item.event) runInNewContext(event.script.exec.join('\n'), { pm })
  }
  return runs
}

function requestOf(item: PostmanItem, collection: PostmanCollection, fill: (text: string) => string) {
  const { method, url, header, body, auth = collection.auth } = item.request
  const path = url.path.map((step) => {
    const variable = url.variable.find(({ key }) => `:${key}` === step)
    return variable === undefined ? step : encodeURIComponent(fill(variable.value))
  })
  const query = Object.fromEntries(
    url.query.filter((each) => each.disabled !== true).map(({ key, value }) => [key, fill(value)]),
  )
  const headers = Object.fromEntries(header.map(({ key, value }) => [key.toLowerCase(), fill(value)]))
  if (auth.type === 'bearer') headers.authorization = `Bearer ${fill(auth.bearer[0]?.value ?? '')}`
  const payload = body === undefined ? undefined : fill(body.raw)
  return { method: method as 'GET', url: `/${path.join('/')}`, query, headers, payload }
}

function dynamic(name: string): string | undefined {
  if (name === '$guid') return randomUUID()
  return name === '$randomInt' ? String(randomInt(1000)) : undefined
}
