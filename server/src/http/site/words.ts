import type { IncomingHttpHeaders } from 'node:http'

const en = {
  language: 'en',
  nothingHere: 'Page not found',
  nothingHereHelp: 'Check the address and try again.',
  home: 'Go to the home page',
  failed: 'Something went wrong',
}

export type Words = typeof en

const pt: Words = {
  language: 'pt-BR',
  nothingHere: 'Página não encontrada',
  nothingHereHelp: 'Confira o endereço e tente de novo.',
  home: 'Ir para o início',
  failed: 'Algo deu errado',
}

const es: Words = {
  language: 'es',
  nothingHere: 'Página no encontrada',
  nothingHereHelp: 'Revisa la dirección e inténtalo de nuevo.',
  home: 'Ir al inicio',
  failed: 'Algo salió mal',
}

const languages: Record<string, Words> = { en, pt, es }

/** The words of the first language of the browser's that we speak. */
export function wordsFor(headers: IncomingHttpHeaders): Words {
  const wanted = (headers['accept-language'] ?? '').split(',').map(readRange)
  const best = wanted
    .toSorted((a, b) => b.weight - a.weight)
    .find(({ name, weight }) => weight > 0 && name in languages)
  return (best && languages[best.name]) ?? en
}

function readRange(range: string): { name: string; weight: number } {
  const [tag = '', ...parameters] = range.trim().toLowerCase().split(';')
  const weight = parameters.map((one) => /^\s*q=([\d.]+)$/.exec(one)?.[1]).find((found) => found !== undefined)
  return { name: tag.split('-')[0] ?? '', weight: weight === undefined ? 1 : Number(weight) }
}
