import { language } from '../../text/index.ts'

/** A language by a template's code for it, such as `pt_BR`, in the reader's words. */
export function languageName(code: string): string {
  try {
    return new Intl.DisplayNames([language], { type: 'language' }).of(code.replace('_', '-')) ?? code
  } catch {
    return code
  }
}
