/** Frequent words that the other two languages do not have, without accents. */
const frequentWords = {
  en: 'the you your we our is are was will with for and this that have what how can please hello hi thanks thank when of to it my not do does',
  pt: 'voce voces nao sim obrigado obrigada ola oi bom boa dia tarde uma um com seu sua meu minha ja esta isso em pelo pela ate mais pedido ajudar posso pode amanha tambem nos os as do da dos das fazer tem foi qual aqui quando',
  es: 'usted ustedes gracias hola buenos buenas dias tardes una uno con su sus mi ya esta eso en por hasta mas ayudar puedo puede manana tambien el los las del hacer tiene fue cual aqui cuando pero muy le se lo y no si',
} as const
export type Language = keyof typeof frequentWords

const known = Object.entries(frequentWords).map(
  ([language, words]) => [language as Language, new Set(words.split(' '))] as const,
)

/**
 * Returns whether a text can be in a language: no other of the three has more of its frequent words. A text with too few
 * of them to tell can be in each.
 */
export function canBeIn(language: Language, text: string): boolean {
  const words = foldText(text).match(/\p{L}+/gu) ?? []
  const counts = new Map(known.map(([name, set]) => [name, words.filter((word) => set.has(word)).length]))
  const most = Math.max(...counts.values())
  return most < 2 || counts.get(language) === most
}

/** Returns a text in small letters without accents, and with single spaces. */
export const foldText = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/\s{1,1000}/g, ' ')
    .trim()
