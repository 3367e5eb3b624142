const styles = new Map<string, Intl.NumberFormat>();

/** What a customer reads: "€49.90". */
export function money(amount: number, currency: string): string {
  let style = styles.get(currency);
  if (!style) {
    style = new Intl.NumberFormat('en', { style: 'currency', currency });
    styles.set(currency, style);
  }
  return style.format(amount);
}
