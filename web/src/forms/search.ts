export const formViews = ['build', 'share', 'submissions'] as const
export type FormView = (typeof formViews)[number]

/** What the address of a form's page says beside the form. */
export interface FormSearch {
  view?: FormView
}

/** Leaves out what nobody of us wrote. */
export function readFormSearch(raw: Record<string, unknown>): FormSearch {
  const view = formViews.find((one) => one === raw.view)
  return view === undefined ? {} : { view }
}
