// Lowest possible cost of storing a picture: answers its callback at once, then requests it, downloads it to a folder
// and syncs, several at a time. No keys, validation, encryption, previews or database. A page is notified by
// server-sent events. Run by media-part.ts in a process of its own.
import { open, readFile } from 'node:fs/promises'
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pLimit from 'p-limit'

const { PLATFORM_PORT = '0', FOLDER = '' } = process.env
const maxConcurrent = pLimit(8)
const agent = new Agent({ keepAlive: true })
const streams = new Set<ServerResponse>()
const state = { kept: 0, lastAt: 0 }

const page = `<!doctype html><main></main><script>
new EventSource('/live').onmessage = ({ data }) => {
  const image = new Image()
  image.src = '/kept/' + data
  document.querySelector('main').replaceChildren(image)
}
</script>`

const server = createServer(async (request, response) => {
  const { url = '' } = request
  if (url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  else if (url === '/state') response.end(JSON.stringify(state))
  else if (url === '/live') {
    streams.add(response.writeHead(200, { 'content-type': 'text/event-stream' }))
    response.write(': open\n\n')
  } else if (url.startsWith('/kept/')) {
    const bytes = await readFile(join(FOLDER, url.slice(6)))
    response.writeHead(200, { 'content-type': 'image/jpeg' }).end(bytes)
  } else if (url !== '/webhook') {
    response.writeHead(404).end()
  } else {
    const ids = pictureIds(JSON.parse(String(await readBody(request))))
    response.end('{}')
    for (const id of ids) void maxConcurrent(() => keep(id))
  }
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))

interface Callback {
  entry: { changes: { value: { messages: { image: { id: string } }[] } }[] }[]
}

const pictureIds = ({ entry }: Callback) =>
  entry.flatMap(({ changes }) => changes.flatMap(({ value }) => value.messages.map(({ image }) => image.id)))

async function keep(id: string): Promise<void> {
  const { url } = JSON.parse(String(await fetched(`http://127.0.0.1:${PLATFORM_PORT}/v25.0/${id}`)))
  const bytes = await fetched(url)
  const name = crypto.randomUUID()
  const file = await open(join(FOLDER, name), 'wx')
  try {
    await file.write(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  state.kept++
  state.lastAt = Date.now()
  for (const stream of streams) stream.write(`data: ${name}\n\n`)
}

async function fetched(url: string): Promise<Buffer> {
  return readBody(
    await new Promise<IncomingMessage>((resolve, reject) => get(url, { agent }, resolve).on('error', reject)),
  )
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await incoming.toArray())
}
