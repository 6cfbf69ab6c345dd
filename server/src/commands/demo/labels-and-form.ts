import type { NewForm } from '../../forms/form/schema.ts'
import type { LabelColor } from '../../workspace/labels.ts'

export const demoLabels: readonly { name: string; color: LabelColor }[] = [
  { name: 'VIP', color: 'amber' },
  { name: 'Call back', color: 'blue' },
  { name: 'Waiting for papers', color: 'violet' },
]

export const demoForm: NewForm = {
  slug: 'demo',
  name: 'Demo form',
  title: 'Talk to our team',
  description: 'Tell us what you are looking for. We answer within one working day.',
  fields: [
    { key: 'firstName', label: 'First name', type: 'text', required: true },
    { key: 'lastName', label: 'Last name', type: 'text', required: false },
    { key: 'email', label: 'E-mail', type: 'email', required: false },
    { key: 'phone', label: 'Phone', type: 'phone', required: true, placeholder: '(11) 95550-1234' },
    {
      key: 'interest',
      label: 'Interested in',
      type: 'select',
      required: false,
      options: ['Monthly plan', 'Annual plan', 'Something else'],
    },
    { key: 'newsletter', label: 'Send me news once a month', type: 'boolean', required: false },
  ],
  submitLabel: 'Ask for a call',
}
