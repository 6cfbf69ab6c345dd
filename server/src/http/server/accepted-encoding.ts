export type Encoding = 'br' | 'gzip' | 'identity'

/** The encoding that suits us best of those that an `Accept-Encoding` header takes; weights count only where they are 0. */
export function acceptedEncoding(header: string | undefined): Encoding {
  if (header === undefined) return 'identity'
  const isTaken = new Map<string, boolean>()
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', weight] = part.split(';').map((piece) => piece.trim())
    isTaken.set(name, weight === undefined || !/^q=0(?:\.0*)?$/.test(weight))
  }
  if (isTaken.get('br') === true) return 'br'
  return (isTaken.get('gzip') ?? isTaken.get('x-gzip') ?? isTaken.get('*')) === true ? 'gzip' : 'identity'
}
