import type { PlatformTemplate } from '../templates/template.ts'
import { hasPlaceholder, normalLanguage, readBody } from '../templates/template-body.ts'
import { type Loose, listOf, objectOf, textOf } from './json.ts'

/** A template of the platform's list; null when it lacks its name, language or status. */
export function readTemplate(value: unknown): PlatformTemplate | null {
  const { name, language, status, category, parameter_format, components } = objectOf(value)
  const [knownName, knownLanguage, knownStatus] = [textOf(name), textOf(language), textOf(status)]
  if (knownName === null || knownLanguage === null || knownStatus === null) return null
  const parts = listOf(components).map(objectOf)
  const body = textOf(parts.find((part) => typeOf(part) === 'BODY')?.text)
  const isAuthentication = textOf(category)?.toUpperCase() === 'AUTHENTICATION'
  return {
    name: knownName,
    language: normalLanguage(knownLanguage),
    category: textOf(category) ?? '',
    status: knownStatus.toUpperCase(),
    ...readBody(body ?? '', textOf(parameter_format)?.toUpperCase() === 'NAMED'),
    bodyOnly: body !== null && !isAuthentication && parts.every(needsNothing),
  }
}

/** Whether this part of a template is sent as it stands. What is not known is taken to need something. */
function needsNothing(part: Loose): boolean {
  switch (typeOf(part)) {
    case 'BODY':
    case 'FOOTER':
      return true
    case 'HEADER':
      return (textOf(part.format)?.toUpperCase() ?? 'TEXT') === 'TEXT' && !hasPlaceholder(textOf(part.text) ?? '')
    case 'BUTTONS':
      return listOf(part.buttons).map(objectOf).every(isPlainButton)
    default:
      return false
  }
}

function isPlainButton(button: Loose): boolean {
  const type = typeOf(button)
  if (type === 'URL') return !hasPlaceholder(textOf(button.url) ?? '')
  return type === 'QUICK_REPLY' || type === 'PHONE_NUMBER' || type === 'VOICE_CALL'
}

const typeOf = (part: Loose): string => textOf(part.type)?.toUpperCase() ?? ''
