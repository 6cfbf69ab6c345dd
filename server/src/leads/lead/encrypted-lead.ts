import type { Keyring } from '../../base/encryption/keyring.ts'
import type { EncryptedColumns } from '../../base/encryption/plaintext-cache.ts'
import { phoneClass, phoneKeys } from '../../base/phone/phone-variants.ts'
import { emailKey, emailKeys } from '../../base/text/email.ts'
import { isoTime } from '../../base/time.ts'
import type { CustomField } from './custom-fields.ts'
import type { Lead, LeadContacts, ListedLead } from './lead.ts'

/** Fields that are stored as they are. */
type PlainField =
  | 'id'
  | 'status'
  | 'priority'
  | 'source'
  | 'adPlatform'
  | 'assignedTo'
  | 'estimatedValue'
  | 'actualValue'
type PlainFields = Pick<Lead, PlainField | 'uniqueCode' | 'externalRef' | 'deletedAt'>

/** Row of a lead, with its encrypted columns. */
export interface LeadRow extends PlainFields, Pick<Lead, 'createdAt' | 'updatedAt'> {
  person: Buffer
  notes: Buffer | null
  customFields: Buffer | null
}

/** Row of a list: encrypted values as `Keyring.decryptCached` takes them, times in the database's text format. */
export interface ListedLeadRow extends PlainFields {
  sealed: string
  createdAt: string
  updatedAt: string
}

export type StoredLead = ReturnType<typeof encryptLead>

/** Encrypted columns and index digests of a lead: computing them needs the keyring and costs time. */
export interface EncryptedFields {
  person: Buffer
  notes: Buffer | null
  custom_fields: Buffer | null
  email_index: Buffer | null
  phone_index: Buffer | null
  index_version: number
}

type Person = [
  firstName: string,
  lastName: string | null,
  email: string | null,
  phone: string | null,
  contacts?: LeadContacts | null,
  formerPhones?: string[],
]

export function encryptLead(keyring: Keyring, lead: Lead, encrypted = encryptFields(keyring, lead)) {
  return {
    id: lead.id,
    unique_code: lead.uniqueCode,
    external_ref: lead.externalRef,
    status: lead.status,
    priority: lead.priority,
    source: lead.source,
    ad_platform: lead.adPlatform,
    assigned_to: lead.assignedTo,
    estimated_value: lead.estimatedValue,
    actual_value: lead.actualValue,
    ...encrypted,
    created_at: lead.createdAt,
    updated_at: lead.updatedAt,
    deleted_at: lead.deletedAt,
  }
}

export function encryptFields(keyring: Keyring, lead: Lead): EncryptedFields {
  const context = (column: string) => ({ table: 'leads', row: lead.id, column })
  const person: Person = [lead.firstName, lead.lastName, lead.email, lead.phone]
  if (lead.contacts !== undefined || lead.formerPhones !== undefined) person.push(lead.contacts ?? null)
  if (lead.formerPhones !== undefined) person.push(lead.formerPhones)
  return {
    person: keyring.encrypt(context('person'), JSON.stringify(person)),
    notes: lead.notes === null ? null : keyring.encrypt(context('notes'), lead.notes),
    custom_fields:
      lead.customFields.length === 0
        ? null
        : keyring.encrypt(context('custom_fields'), JSON.stringify(lead.customFields)),
    ...leadIndexes(keyring, lead),
  }
}

export function leadIndexes(keyring: Keyring, { email, phone }: Pick<Lead, 'email' | 'phone'>) {
  return {
    email_index: email === null ? null : emailIndex(keyring, email),
    phone_index: phone === null ? null : phoneIndex(keyring, phone),
    index_version: keyring.indexVersion,
  }
}

export function decryptLead(keyring: Keyring, row: LeadRow): Lead {
  const decrypt = (column: string, value: Buffer | null) =>
    value === null ? null : keyring.decryptText({ table: 'leads', row: row.id, column }, value)
  const [personJson, notes] = [decrypt('person', row.person), decrypt('notes', row.notes)]
  return {
    ...plainFields(row),
    ...parsePlaintext(personJson, notes, decrypt('custom_fields', row.customFields)),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

/** Decrypts a lead of a list, whose values were probably decrypted for an earlier page. */
export function decryptListedLead(keyring: Keyring, row: ListedLeadRow): ListedLead {
  return {
    ...plainFields(row),
    ...keyring.decryptCached(listedColumns, row.id, row.sealed),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

/** Field by field: a rest of the row would keep its other columns, and costs a tenth of a page's time. */
const plainFields = (row: PlainFields): PlainFields => ({
  id: row.id,
  uniqueCode: row.uniqueCode,
  externalRef: row.externalRef,
  status: row.status,
  priority: row.priority,
  source: row.source,
  adPlatform: row.adPlatform,
  assignedTo: row.assignedTo,
  estimatedValue: row.estimatedValue,
  actualValue: row.actualValue,
  deletedAt: row.deletedAt,
})

/** Parses the encrypted columns of a lead. */
function parsePlaintext(personJson: string | null, notes: string | null, customFields: string | null) {
  const [firstName, lastName, email, phone, contacts, formerPhones] = JSON.parse(personJson ?? '') as Person
  return {
    ...{ firstName, lastName, email, phone, notes },
    ...(contacts && { contacts }),
    ...(formerPhones !== undefined && { formerPhones }),
    customFields: JSON.parse(customFields ?? '[]') as CustomField[],
  }
}

const listedColumns: EncryptedColumns<ReturnType<typeof parsePlaintext>> = {
  table: 'leads',
  columns: ['person', 'notes', 'custom_fields'],
  cachedAs: 'leads',
  read: (person = null, notes = null, customFields = null) => parsePlaintext(person, notes, customFields),
}

export function decryptPerson(keyring: Keyring, id: string, ciphertext: Buffer): Person {
  return JSON.parse(keyring.decryptText({ table: 'leads', row: id, column: 'person' }, ciphertext)) as Person
}

/** Returns the digest for lookups by e-mail, the same for all spellings of the address. */
function emailIndex(keyring: Keyring, email: string): Buffer {
  return keyring.exact('lead.email', emailKey(email))
}

/** Returns the digest for lookups by phone, the same for all common variants of the number. */
function phoneIndex(keyring: Keyring, digits: string): Buffer {
  return keyring.exact('lead.phone', phoneClass(digits))
}

/** Returns all digests under which leads with this phone may be stored, for each index key version in a rotation. */
export function phoneIndexes(keyring: Keyring, digits: string): Buffer[] {
  return phoneKeys(digits).flatMap((key) => keyring.exacts('lead.phone', key))
}

/** Returns all digests under which leads with this e-mail may be stored. */
export function emailIndexes(keyring: Keyring, email: string): Buffer[] {
  return emailKeys(email).flatMap((key) => keyring.exacts('lead.email', key))
}
