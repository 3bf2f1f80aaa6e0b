// A set that can only be asked.

/** Keys that belong to it, told one by one: who has thousands need not be collected to be asked about. */
export type KeySet = Pick<ReadonlySet<string>, 'has'>;
