"""The results of transforms, by the positions and containers of what is differentiated by."""

import vtgrad as vt
from vtgrad.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp

x = vt.ones(2)
params = {"w": x}


def loss(w: vt.Tensor, scale: float = 1.0) -> vt.Tensor:
    return (w * w).sum() * scale


def of_params(p: dict[str, vt.Tensor], x: vt.Tensor) -> vt.Tensor:
    return (p["w"] * x).sum()


def of_three(a: list[vt.Tensor], b: float, c: vt.Tensor) -> vt.Tensor:
    return (a[0] * b * c).sum()


def of_four(a: list[vt.Tensor], b: vt.Tensor, c: dict[str, vt.Tensor], d: vt.Tensor) -> vt.Tensor:
    return (a[0] * b * c["w"] * d).sum()


def pair(w: vt.Tensor, scale: float = 1.0) -> tuple[vt.Tensor, str]:
    return loss(w, scale), "beside"


def twice(w: vt.Tensor) -> dict[str, vt.Tensor]:
    return {"once": w, "twice": w * 2}


def use(number: int, numbers: tuple[int, ...], either: int | tuple[int, ...], aux: bool) -> None:
    reveal_type(grad(of_params, number)(params, x))  # R: object
    reveal_type(grad(of_params, numbers)(params, x))  # R: tuple[object, ...]
    reveal_type(grad(of_params, either)(params, x))  # R: object
    reveal_type(grad(of_params, -1)(params, x))  # R: object
    reveal_type(grad(pair, has_aux=aux)(x))  # R: object
    reveal_type(grad_and_value(loss, number)(x))  # R: tuple[object, vtgrad.Tensor]
    reveal_type(grad_and_value(pair, has_aux=aux)(x))  # R: tuple[object, object]
    reveal_type(jacrev(twice, number)(x))  # R: object
    reveal_type(jacfwd(twice, numbers)(x))  # R: object
    reveal_type(hessian(twice, either)(x))  # R: object


reveal_type(grad(loss))  # R: def (vtgrad.Tensor, scale: float =) -> vtgrad.Tensor
reveal_type(grad(loss)(x, scale=2.0))  # R: vtgrad.Tensor
reveal_type(grad(grad(loss))(x))  # R: vtgrad.Tensor
reveal_type(grad(of_params)(params, x))  # R: dict[str, vtgrad.Tensor]
reveal_type(grad(of_params, 1)(params, x))  # R: vtgrad.Tensor
reveal_type(grad(of_params, (0, 1))(params, x))  # R: tuple[dict[str, vtgrad.Tensor], vtgrad.Tensor]
reveal_type(grad(of_params, argnums=(1,))(params, x))  # R: tuple[vtgrad.Tensor]
reveal_type(grad(of_three, (0, 2))([x], 2.0, x))  # R: tuple[list[vtgrad.Tensor], vtgrad.Tensor]
reveal_type(grad(of_four, 3)([x], x, params, x))  # R: vtgrad.Tensor
by_two = grad(of_four, (1, 2))([x], x, params, x)
reveal_type(by_two)  # R: tuple[vtgrad.Tensor, dict[str, vtgrad.Tensor]]
by_three = grad(of_four, (0, 1, 2))([x], x, params, x)
reveal_type(by_three)  # R: tuple[list[vtgrad.Tensor], vtgrad.Tensor, dict[str, vtgrad.Tensor]]
by_four = grad(of_four, (0, 1, 2, 3))([x], x, params, x)
reveal_type(by_four[2:])  # R: tuple[dict[str, vtgrad.Tensor], vtgrad.Tensor]
reveal_type(grad(vt.sin))  # R: def (vtgrad.Tensor, *, out: vtgrad.Tensor | None =) -> vtgrad.Tensor
reveal_type(grad(pair, has_aux=True)(x))  # R: tuple[vtgrad.Tensor, str]
reveal_type(grad(pair, 0, True)(x, 2.0))  # R: tuple[vtgrad.Tensor, str]
reveal_type(grad(pair, (0,), has_aux=True)(x))  # R: tuple[tuple[vtgrad.Tensor], str]
reveal_type(grad_and_value(loss)(x))  # R: tuple[vtgrad.Tensor, vtgrad.Tensor]
both = grad_and_value(of_params, (0, 1))(params, x)
reveal_type(both[0])  # R: tuple[dict[str, vtgrad.Tensor], vtgrad.Tensor]
reveal_type(both[1])  # R: vtgrad.Tensor
reveal_type(grad_and_value(pair, has_aux=True)(x)[1])  # R: tuple[vtgrad.Tensor, str]
reveal_type(jacrev(loss)(x))  # R: vtgrad.Tensor
reveal_type(jacrev(twice)(x))  # R: dict[str, vtgrad.Tensor]
reveal_type(jacrev(of_params)(params, x))  # R: dict[str, vtgrad.Tensor]
jacobians = jacrev(of_params, (0, 1), chunk_size=2)(params, x)
reveal_type(jacobians)  # R: tuple[dict[str, vtgrad.Tensor], vtgrad.Tensor]
reveal_type(jacrev(pair, has_aux=True)(x))  # R: tuple[vtgrad.Tensor, str]
reveal_type(jacfwd(twice, randomness="same")(x))  # R: dict[str, vtgrad.Tensor]
reveal_type(jacfwd(pair, 0, True)(x))  # R: tuple[vtgrad.Tensor, str]
reveal_type(jacfwd(jacrev(twice))(x))  # R: dict[str, vtgrad.Tensor]
reveal_type(hessian(loss)(x))  # R: vtgrad.Tensor
reveal_type(hessian(twice)(x))  # R: dict[str, vtgrad.Tensor]
reveal_type(hessian(of_params)(params, x))  # R: dict[str, dict[str, vtgrad.Tensor]]
reveal_type(hessian(of_params, 1)(params, x))  # R: vtgrad.Tensor
reveal_type(hessian(loss, (0,))(x))  # R: tuple[tuple[vtgrad.Tensor]]
reveal_type(hessian(of_params, (0, 1))(params, x))  # R: object
reveal_type(vt.vmap(grad(loss), in_dims=(0, None))(x, 2.0))  # R: vtgrad.Tensor
reveal_type(vjp(of_params, params, x)[1](x))  # R: tuple[dict[str, vtgrad.Tensor], vtgrad.Tensor]
reveal_type(vjp(pair, x, has_aux=True)[1](x))  # R: tuple[vtgrad.Tensor]
reveal_type(vjp(pair, x, has_aux=True)[2])  # R: str
reveal_type(jvp(loss, (x,), (x,)))  # R: tuple[vtgrad.Tensor, vtgrad.Tensor]
push = linearize(of_params, params, x)[1]
reveal_type(push)  # R: def (dict[str, vtgrad.Tensor], vtgrad.Tensor) -> vtgrad.Tensor
