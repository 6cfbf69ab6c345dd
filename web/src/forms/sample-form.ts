import type { FormSettings } from '../data/forms.ts'
import { t } from '../text/index.ts'

/** What a new form begins with: enough to be sent, and closed until somebody opens it. */
export const sampleForm = (): Omit<FormSettings, 'slug'> => ({
  name: t.forms.newName,
  title: t.forms.newTitle,
  description: null,
  fields: [
    { key: 'firstName', label: t.forms.leadFields.firstName, type: 'text', required: true },
    { key: 'phone', label: t.forms.leadFields.phone, type: 'phone', required: true },
  ],
  submitLabel: t.forms.newSubmit,
  thankYou: t.forms.newThanks,
  redirectUrl: null,
  allowedOrigins: [],
  source: 'website',
  status: 'new',
  active: false,
})
