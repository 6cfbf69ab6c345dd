import type { Keyring } from '../../base/encryption/keyring.ts'
import type { EncryptedColumns } from '../../base/encryption/plaintext-cache.ts'
import { phoneClass, phoneKeys } from '../../base/phone/phone-variants.ts'
import { emailKey, emailKeys } from '../../base/text/email.ts'
import { isoTime } from '../../base/time.ts'
import type { CustomField } from './custom-fields.ts'
import type { AdPlatform, Lead, LeadContacts, ListedLead, Priority, Source } from './lead.ts'

export interface LeadRow {
  id: string
  unique_code: string
  external_ref: string | null
  status: string
  priority: Priority
  source: Source
  ad_platform: AdPlatform | null
  assigned_to: string | null
  estimated_value: number | null
  actual_value: number | null
  person: Buffer
  notes: Buffer | null
  custom_fields: Buffer | null
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

/** Row of a list: encrypted values as `Keyring.decryptCached` takes them, times in the database's text format. */
export interface ListedLeadRow
  extends Omit<LeadRow, 'person' | 'notes' | 'custom_fields' | 'created_at' | 'updated_at'> {
  sealed: string
  created_at: string
  updated_at: string
}

export interface StoredLead extends LeadRow, EncryptedFields {}

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

export function encryptLead(keyring: Keyring, lead: Lead, encrypted = encryptFields(keyring, lead)): StoredLead {
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
  const decrypt = (column: 'person' | 'notes' | 'custom_fields') =>
    row[column] === null ? null : keyring.decryptText({ table: 'leads', row: row.id, column }, row[column])
  return {
    ...plainFields(row),
    ...parsePlaintext(decrypt('person'), decrypt('notes'), decrypt('custom_fields')),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Decrypts a lead of a list, whose values were probably decrypted for an earlier page. */
export function decryptListedLead(keyring: Keyring, row: ListedLeadRow): ListedLead {
  return {
    ...plainFields(row),
    ...keyring.decryptCached(listedColumns, row.id, row.sealed),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  }
}

const plainFields = (row: LeadRow | ListedLeadRow) => ({
  id: row.id,
  uniqueCode: row.unique_code,
  externalRef: row.external_ref,
  status: row.status,
  priority: row.priority,
  source: row.source,
  adPlatform: row.ad_platform,
  assignedTo: row.assigned_to,
  estimatedValue: row.estimated_value,
  actualValue: row.actual_value,
  deletedAt: row.deleted_at,
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
