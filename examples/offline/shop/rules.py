def discount(amount, customer):
    if customer.years >= 5:
        return amount * 0.15
    if amount > 100:
        return amount * 0.05
    return 0
