import { language } from '../../text/index.ts'

/** Names the language of a template, such as `pt_BR`, in the reader's language. */
export function languageName(code: string): string {
  try {
    return new Intl.DisplayNames([language], { type: 'language' }).of(code.replace('_', '-')) ?? code
  } catch {
    return code
  }
}
